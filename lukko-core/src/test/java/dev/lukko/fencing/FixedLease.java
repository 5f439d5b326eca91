package dev.lukko.fencing;

import dev.lukko.Lease;
import java.lang.reflect.Proxy;
import java.util.List;

/** A lease that has names and a token and can do nothing else. */
final class FixedLease {
  private FixedLease() {}

  static Lease of(long token, String... resources) {
    return (Lease)
        Proxy.newProxyInstance(
            FixedLease.class.getClassLoader(),
            new Class<?>[] {Lease.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "resources" -> List.of(resources);
                  case "fencingToken" -> token;
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }
}
