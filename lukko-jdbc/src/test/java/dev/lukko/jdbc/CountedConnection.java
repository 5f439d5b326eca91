package dev.lukko.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.concurrent.atomic.AtomicInteger;

/** A connection that counts the statements prepared or created on it. */
final class CountedConnection {
  private final AtomicInteger statements = new AtomicInteger();
  private final Connection connection;

  CountedConnection(Connection real) {
    this.connection =
        (Connection)
            Proxy.newProxyInstance(
                CountedConnection.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> {
                  if (method.getName().startsWith("prepare")
                      || method.getName().equals("createStatement")) {
                    statements.incrementAndGet();
                  }
                  try {
                    return method.invoke(real, arguments);
                  } catch (InvocationTargetException failed) {
                    throw failed.getCause();
                  }
                });
  }

  Connection connection() {
    return connection;
  }

  int statements() {
    return statements.get();
  }
}
