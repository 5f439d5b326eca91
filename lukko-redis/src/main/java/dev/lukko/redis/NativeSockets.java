package dev.lukko.redis;

import io.lettuce.core.resource.EpollProvider;
import io.lettuce.core.resource.IOUringProvider;
import io.lettuce.core.resource.KqueueProvider;

/** Whether the driver can reach Unix sockets, for which it needs a library of its own. */
final class NativeSockets {
  private NativeSockets() {}

  /**
   * Checks it.
   *
   * @throws IllegalArgumentException naming the library that is missing
   */
  static void require(String path) {
    if (EpollProvider.isAvailable()
        || KqueueProvider.isAvailable()
        || IOUringProvider.isAvailable()) {
      return;
    }
    throw new IllegalArgumentException(
        "address "
            + path
            + " is a Unix socket, and the driver lacks the library for it: on Linux add"
            + " io.netty:netty-transport-native-epoll with the classifier linux-x86_64 or"
            + " linux-aarch_64, on macOS io.netty:netty-transport-native-kqueue with osx-x86_64 or"
            + " osx-aarch_64, each in the version of the driver's other io.netty libraries");
  }
}
