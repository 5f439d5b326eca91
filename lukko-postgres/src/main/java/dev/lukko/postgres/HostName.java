package dev.lukko.postgres;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** The name of this machine, for people; looked up once. */
final class HostName {
  private static final String LOCAL = lookUp();

  private HostName() {}

  static String local() {
    return LOCAL;
  }

  private static String lookUp() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException nameless) {
      return "unknown-host";
    }
  }
}
