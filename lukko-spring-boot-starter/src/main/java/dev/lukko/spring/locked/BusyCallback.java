package dev.lukko.spring.locked;

import dev.lukko.LockBusyException;
import dev.lukko.annotation.BusyAnswer;
import dev.lukko.annotation.MethodCall;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ReflectionUtils;

/** The method that is called when the lock is busy. */
final class BusyCallback {
  private final Method method;
  private final boolean wantsToKnow;

  private BusyCallback(Method method, boolean wantsToKnow) {
    this.method = method;
    this.wantsToKnow = wantsToKnow;
  }

  /**
   * Finds it.
   *
   * @throws IllegalArgumentException if there is none that can take the place of the method
   */
  static BusyCallback find(Method locked, Class<?> targetClass, String name) {
    Class<?>[] same = locked.getParameterTypes();
    Class<?>[] withBusy = Arrays.copyOf(same, same.length + 1);
    withBusy[same.length] = LockBusyException.class;
    Method knowing = ReflectionUtils.findMethod(targetClass, name, withBusy);
    Method found = knowing == null ? ReflectionUtils.findMethod(targetClass, name, same) : knowing;
    if (name.isEmpty() || found == null || found.equals(locked)) {
      throw new IllegalArgumentException(
          "callback is \""
              + name
              + "\"; it must be another method of "
              + targetClass.getSimpleName()
              + " with the same parameters, and after them a LockBusyException or nothing");
    }
    if (!locked.getReturnType().isAssignableFrom(found.getReturnType())) {
      throw new IllegalArgumentException(
          "callback is \""
              + name
              + "\", which returns "
              + found.getReturnType().getName()
              + "; it must return "
              + locked.getReturnType().getName());
    }
    for (Class<?> thrown : found.getExceptionTypes()) {
      if (!ReflectionUtils.declaresException(locked, thrown)
          && !RuntimeException.class.isAssignableFrom(thrown)
          && !Error.class.isAssignableFrom(thrown)) {
        throw new IllegalArgumentException(
            "callback is \""
                + name
                + "\", which throws "
                + thrown.getName()
                + "; it must throw nothing that callers are not prepared for");
      }
    }
    ReflectionUtils.makeAccessible(found);
    return new BusyCallback(found, knowing != null);
  }

  BusyAnswer answerFor(MethodCall call) {
    return busy -> invoke(call, busy);
  }

  private @Nullable Object invoke(MethodCall call, LockBusyException busy) throws Throwable {
    @Nullable Object[] arguments = call.arguments();
    if (wantsToKnow) {
      arguments = Arrays.copyOf(arguments, arguments.length + 1);
      arguments[arguments.length - 1] = busy;
    }
    try {
      return method.invoke(call.target(), arguments);
    } catch (InvocationTargetException thrown) {
      throw thrown.getTargetException();
    }
  }
}
