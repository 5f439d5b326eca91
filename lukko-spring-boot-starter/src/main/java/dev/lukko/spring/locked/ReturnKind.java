package dev.lukko.spring.locked;

import java.lang.reflect.Method;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.BaseStream;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;

/** When the work of a method has ended, by what it returns. */
enum ReturnKind {
  /** When it has returned. */
  VALUE,
  /** When the stage that it returned has ended. */
  STAGE,
  /** When the publisher that it returned has ended, for each subscriber. */
  PUBLISHER;

  private static final Set<Class<?>> LATER =
      Set.of(
          Future.class,
          Callable.class,
          Supplier.class,
          Runnable.class,
          Iterator.class,
          BaseStream.class);

  private static final Set<String> LATER_ON_THE_WEB =
      Set.of(
          "org.springframework.web.context.request.async.DeferredResult",
          "org.springframework.web.context.request.async.WebAsyncTask",
          "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
          "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

  /**
   * The kind of a method.
   *
   * @throws IllegalArgumentException if its work goes on after its return, and nobody can see when
   *     it ends
   */
  static ReturnKind of(Method method) {
    Class<?> type = method.getReturnType();
    if (CompletionStage.class.isAssignableFrom(type)) {
      if (!type.isAssignableFrom(CompletableFuture.class)) {
        throw refused(type, "use CompletableFuture");
      }
      return STAGE;
    }
    if (isOfCoroutine(method)) {
      throw new IllegalArgumentException(
          "it is a coroutine, which the lock cannot be held for; lock inside of it");
    }
    for (Class<?> one = type; one != null; one = one.getSuperclass()) {
      if (LATER_ON_THE_WEB.contains(one.getName())) {
        throw refused(type, "lock where the work is done");
      }
    }
    if (type != Object.class && LATER.stream().anyMatch(later -> later.isAssignableFrom(type))) {
      throw refused(type, "use CompletableFuture, or return when the work is done");
    }
    boolean published = ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
    return published ? PUBLISHER : VALUE;
  }

  /** What the method gives its caller in the end. */
  ResolvableType valueOf(Method method, Class<?> targetClass) {
    ResolvableType returned = ResolvableType.forMethodReturnType(method, targetClass);
    return this == VALUE ? returned : returned.getGeneric(0);
  }

  private static boolean isOfCoroutine(Method method) {
    Class<?>[] types = method.getParameterTypes();
    return types.length > 0
        && types[types.length - 1].getName().equals("kotlin.coroutines.Continuation");
  }

  private static IllegalArgumentException refused(Class<?> type, String instead) {
    return new IllegalArgumentException(
        "it returns "
            + type.getName()
            + ", whose work may go on when the lock has been released; "
            + instead);
  }
}
