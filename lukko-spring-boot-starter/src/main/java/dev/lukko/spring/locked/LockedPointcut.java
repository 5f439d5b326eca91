package dev.lukko.spring.locked;

import java.lang.reflect.Method;
import org.springframework.aop.support.StaticMethodMatcherPointcut;

/** The methods that have a lock. */
final class LockedPointcut extends StaticMethodMatcherPointcut {

  @Override
  public boolean matches(Method method, Class<?> targetClass) {
    return LockedMethods.isLocked(method, targetClass);
  }
}
