package dev.lukko.time;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/** The JDK's virtual threads, where it has them; this is compiled for one that has not. */
final class VirtualThreads {
  private static final System.Logger LOG = System.getLogger(VirtualThreads.class.getName());
  private static final int FIRST_JDK = 21;

  private VirtualThreads() {}

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
