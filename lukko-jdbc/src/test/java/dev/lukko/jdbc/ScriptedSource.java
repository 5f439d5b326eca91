package dev.lukko.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import javax.sql.DataSource;

/**
 * A data source whose prepared statements fail as a test says, and which counts what is taken from
 * it.
 */
final class ScriptedSource {
  final AtomicInteger executions = new AtomicInteger();
  final AtomicInteger open = new AtomicInteger();
  final AtomicInteger mostOpen = new AtomicInteger();
  final List<Connection> connections = new CopyOnWriteArrayList<>();

  private final DataSource real;
  private final boolean autoCommit;
  private volatile Function<String, SQLException> script = sql -> null;

  ScriptedSource(DataSource real) {
    this(real, true);
  }

  ScriptedSource(DataSource real, boolean autoCommit) {
    this.real = real;
    this.autoCommit = autoCommit;
  }

  /** What each execution fails with, by its SQL; null lets it pass. */
  void failWith(Function<String, SQLException> newScript) {
    script = newScript;
  }

  DataSource source() {
    return proxy(
        DataSource.class,
        (method, arguments) -> {
          Object result = method.call(real, arguments);
          if (!(result instanceof Connection connection)) {
            return result;
          }
          connection.setAutoCommit(autoCommit);
          connections.add(connection);
          mostOpen.accumulateAndGet(open.incrementAndGet(), Math::max);
          return connection(connection);
        });
  }

  private Connection connection(Connection realConnection) {
    AtomicInteger closed = new AtomicInteger();
    return proxy(
        Connection.class,
        (method, arguments) -> {
          if (method.name().equals("close") && closed.getAndIncrement() == 0) {
            open.decrementAndGet();
          }
          Object result = method.call(realConnection, arguments);
          return result instanceof PreparedStatement statement
              ? statement(statement, (String) arguments[0])
              : result;
        });
  }

  private PreparedStatement statement(PreparedStatement realStatement, String sql) {
    return proxy(
        PreparedStatement.class,
        (method, arguments) -> {
          if (method.name().startsWith("execute")) {
            executions.incrementAndGet();
            SQLException failure = script.apply(sql);
            if (failure != null) {
              throw failure;
            }
          }
          return method.call(realStatement, arguments);
        });
  }

  private interface Handler {
    Object handle(Call method, Object[] arguments) throws Throwable;
  }

  private record Call(java.lang.reflect.Method method) {
    String name() {
      return method.getName();
    }

    Object call(Object target, Object[] arguments) throws Throwable {
      try {
        return method.invoke(target, arguments);
      } catch (InvocationTargetException failure) {
        throw failure.getCause();
      }
    }
  }

  private static <T> T proxy(Class<T> type, Handler handler) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader() == null
                ? ScriptedSource.class.getClassLoader()
                : type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> handler.handle(new Call(method), arguments)));
  }
}
