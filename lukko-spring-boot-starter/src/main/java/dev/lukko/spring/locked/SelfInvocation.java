package dev.lukko.spring.locked;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.springframework.asm.ClassReader;
import org.springframework.asm.Type;

/**
 * What to do about an object that calls a locked method of its own: such a call does not pass
 * through the proxy, and takes no lock.
 */
public enum SelfInvocation {
  /** The application does not start. */
  FAIL,
  /** It is logged. */
  WARN,
  /** Nothing. */
  IGNORE;

  private static final System.Logger LOG = System.getLogger(SelfInvocation.class.getName());

  void check(Class<?> targetClass, List<Method> locked) {
    if (this == IGNORE) {
      return;
    }
    Set<String> names = new HashSet<>();
    locked.forEach(method -> names.add(method.getName() + Type.getMethodDescriptor(method)));
    List<String> calls = new ArrayList<>();
    for (Class<?> type = targetClass; type != null && type != Object.class; ) {
      calls.addAll(callsIn(type, targetClass, names));
      type = type.getSuperclass();
    }
    if (calls.isEmpty()) {
      return;
    }
    String message =
        "@Locked is not honoured when an object calls its own method, as in "
            + String.join(", ", calls)
            + "; call it from another bean, or take the lock by LockClient";
    if (this == FAIL) {
      throw new IllegalStateException(
          message + " (lukko.self-invocation is \"fail\"; \"warn\" and \"ignore\" let it be)");
    }
    LOG.log(System.Logger.Level.WARNING, message);
  }

  private static List<String> callsIn(Class<?> type, Class<?> targetClass, Set<String> names) {
    String file = type.getName().substring(type.getName().lastIndexOf('.') + 1) + ".class";
    try (InputStream bytes = type.getResourceAsStream(file)) {
      if (bytes == null) {
        return List.of(); // Made at run time, and nobody's own code.
      }
      OwnCalls calls = new OwnCalls(type, targetClass, names);
      new ClassReader(bytes).accept(calls, ClassReader.SKIP_FRAMES);
      return calls.found();
    } catch (IOException | IllegalArgumentException unreadable) {
      LOG.log(
          System.Logger.Level.DEBUG, "calls of its own are not looked for in " + type, unreadable);
      return List.of();
    }
  }
}
