package dev.lukko.time;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/** The JDK's virtual threads, where it has them; this is compiled for one that has not. */
public final class VirtualThreads {
  private static final System.Logger LOG = System.getLogger(VirtualThreads.class.getName());
  private static final int FIRST_JDK = 21;
  private static final @Nullable MethodHandle IS_VIRTUAL = isVirtual();

  private VirtualThreads() {}

  /** Whether the thread is a virtual one. */
  public static boolean isVirtual(Thread thread) {
    try {
      return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invokeExact(thread);
    } catch (Throwable impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static @Nullable MethodHandle isVirtual() {
    try {
      return MethodHandles.publicLookup()
          .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
    } catch (ReflectiveOperationException beforeJava21) {
      return null;
    }
  }

  /** Threads with numbers behind a prefix that inherit no thread-locals; null on older JDKs. */
  static @Nullable ThreadFactory factory(String prefix) {
    if (Runtime.version().feature() < FIRST_JDK) {
      return null;
    }
    try {
      Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
      Class<?> type = Class.forName("java.lang.Thread$Builder");
      Method name = type.getMethod("name", String.class, long.class);
      Method inherit = type.getMethod("inheritInheritableThreadLocals", boolean.class);
      Object alone = inherit.invoke(name.invoke(builder, prefix + "-v", 1L), false);
      return (ThreadFactory) type.getMethod("factory").invoke(alone);
    } catch (ClassNotFoundException
        | NoSuchMethodException
        | IllegalAccessException
        | InvocationTargetException unexpected) {
      LOG.log(System.Logger.Level.DEBUG, "this JDK gives no virtual threads", unexpected);
      return null;
    }
  }
}
