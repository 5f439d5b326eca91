package dev.lukko.spring.locked;

import dev.lukko.annotation.MethodCall;
import java.lang.reflect.Method;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What expressions of keys call {@code #root}. */
final class KeyRoot {
  static final Set<String> PROPERTIES =
      Set.of("method", "methodName", "args", "target", "targetClass");

  private final MethodCall call;

  KeyRoot(MethodCall call) {
    this.call = call;
  }

  public Method getMethod() {
    return call.method();
  }

  public String getMethodName() {
    return call.method().getName();
  }

  public @Nullable Object[] getArgs() {
    return call.arguments();
  }

  public Object getTarget() {
    return call.target();
  }

  public Class<?> getTargetClass() {
    return call.target().getClass();
  }
}
