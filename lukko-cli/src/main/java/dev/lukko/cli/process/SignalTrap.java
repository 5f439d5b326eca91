package dev.lukko.cli.process;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Takes signals that were sent to this JVM, instead of the shutdown that they would begin.
 *
 * <p>A shutdown hook would not do: it does not learn which signal came, and a JVM in shutdown can
 * no longer choose its exit code. The class behind this, {@code sun.misc.Signal}, is in the module
 * {@code jdk.unsupported} of every JDK. It is reached by reflection, because the compiler warns of
 * it in a way that cannot be switched off.
 *
 * <p>A signal that this process was started to ignore, as {@code nohup} does, stays ignored.
 */
public final class SignalTrap implements AutoCloseable {

  private final Map<Signal, Object> previous = new EnumMap<>(Signal.class);

  private SignalTrap() {}

  /**
   * Takes the signals until {@link #close()}.
   *
   * @param signals which ones
   * @param handler what to do; it runs in a thread of its own for each signal, so several may run
   *     at the same time
   */
  public static SignalTrap install(Set<Signal> signals, Consumer<Signal> handler) {
    SignalTrap trap = new SignalTrap();
    for (Signal signal : signals) {
      try {
        trap.previous.put(signal, handle(signal, proxy(signal, handler)));
      } catch (IllegalArgumentException ignoredSignal) {
        // Ignored since the start of this process, or reserved by -Xrs; the child has it the same.
      }
    }
    return trap;
  }

  /** Gives the signals back to whoever took them before. */
  @Override
  public void close() {
    previous.forEach(SignalTrap::handle);
    previous.clear();
  }

  private static Object proxy(Signal signal, Consumer<Signal> handler) {
    return Proxy.newProxyInstance(
        SignalTrap.class.getClassLoader(),
        new Class<?>[] {Reflected.HANDLER},
        (self, method, arguments) ->
            switch (method.getName()) {
              case "handle" -> {
                handler.accept(signal);
                yield null;
              }
              case "equals" -> self == arguments[0];
              case "hashCode" -> System.identityHashCode(self);
              default -> "trap of " + signal;
            });
  }

  /** Sets a handler and returns the one before it. */
  private static Object handle(Signal signal, Object handler) {
    try {
      Object of = Reflected.SIGNAL.getConstructor(String.class).newInstance(signal.name());
      return Reflected.SIGNAL
          .getMethod("handle", Reflected.SIGNAL, Reflected.HANDLER)
          .invoke(null, of, handler);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof IllegalArgumentException refused) {
        throw refused;
      }
      throw new IllegalStateException("cannot take " + signal, e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("cannot take " + signal, e);
    }
  }

  private static final class Reflected {
    static final Class<?> SIGNAL = find("sun.misc.Signal");
    static final Class<?> HANDLER = find("sun.misc.SignalHandler");

    private static Class<?> find(String name) {
      try {
        return Class.forName(name);
      } catch (ClassNotFoundException e) {
        throw new IllegalStateException("the module jdk.unsupported is missing", e);
      }
    }
  }
}
