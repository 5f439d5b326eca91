package dev.lukko.spring.locked;

import dev.lukko.annotation.Locked;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Reports at the start of the application which locks would never be taken. */
final class LockedBeanCheck {
  private static final Set<String> LIFECYCLE =
      Set.of("jakarta.annotation.PostConstruct", "jakarta.annotation.PreDestroy");

  private final Map<Class<?>, List<Method>> known = new ConcurrentHashMap<>();
  private final LockedMethods methods;
  private final Supplier<SelfInvocation> selfInvocation;

  LockedBeanCheck(LockedMethods methods, Supplier<SelfInvocation> selfInvocation) {
    this.methods = methods;
    this.selfInvocation = selfInvocation;
  }

  /**
   * Whether a bean has methods with locks.
   *
   * @throws IllegalStateException if one of them can never be taken
   */
  boolean hasLocks(Object bean, Class<?> targetClass) {
    if (bean instanceof AopInfrastructureBean) {
      return false;
    }
    requireClassFor(bean, targetClass);
    return !locked(targetClass).isEmpty();
  }

  /** The methods of a class that have locks, all checked. */
  List<Method> locked(Class<?> targetClass) {
    List<Method> found = known.get(targetClass);
    if (found == null) {
      found =
          AnnotationUtils.isCandidateClass(targetClass, Locked.class)
              ? find(targetClass)
              : List.of();
      known.put(targetClass, found);
    }
    return found;
  }

  private List<Method> find(Class<?> targetClass) {
    List<Method> found = new ArrayList<>();
    for (Method method : ReflectionUtils.getUniqueDeclaredMethods(targetClass)) {
      if (method.isSynthetic() || method.getDeclaringClass() == Object.class) {
        continue;
      }
      if (!LockedAnnotations.of(method, targetClass).isEmpty()) {
        requireInterceptable(method);
        found.add(methods.of(method, targetClass).method());
      }
    }
    if (!found.isEmpty()) {
      selfInvocation.get().check(targetClass, found);
    }
    return found;
  }

  private static void requireInterceptable(Method method) {
    String fault = null;
    if (Modifier.isPrivate(method.getModifiers())) {
      fault = "it is private";
    } else if (Modifier.isStatic(method.getModifiers())) {
      fault = "it is static";
    } else if (Modifier.isFinal(method.getModifiers())) {
      fault = "it is final";
    } else if (isCalledAtTheStart(method)) {
      fault = "it is called before the bean is surrounded by its lock";
    }
    if (fault != null) {
      throw refused(method, fault + ", so that the lock would never be taken");
    }
  }

  private static boolean isCalledAtTheStart(Method method) {
    for (Annotation annotation : method.getAnnotations()) {
      if (LIFECYCLE.contains(annotation.annotationType().getName())) {
        return true;
      }
    }
    return method.getName().equals("afterPropertiesSet")
        && method.getParameterCount() == 0
        && InitializingBean.class.isAssignableFrom(method.getDeclaringClass());
  }

  /** An interface whose implementation is made at run time has no class for the lock. */
  private static void requireClassFor(Object bean, Class<?> targetClass) {
    if (!Proxy.isProxyClass(bean.getClass())) {
      return;
    }
    for (Class<?> type : ClassUtils.getAllInterfacesForClass(bean.getClass())) {
      for (Method method : type.getMethods()) {
        if (!LockedAnnotations.onMethod(method).isEmpty()
            && (Proxy.isProxyClass(targetClass) || !type.isAssignableFrom(targetClass))) {
          throw refused(
              method,
              "the bean is made at run time for this interface; put the lock on a class that uses"
                  + " it");
        }
      }
    }
  }

  /** A proxy that has the interfaces only cannot be asked for other methods. */
  void requireReachable(Object proxy, Class<?> targetClass) {
    if (!AopUtils.isJdkDynamicProxy(proxy)) {
      return;
    }
    for (Method method : locked(targetClass)) {
      boolean reachable =
          Arrays.stream(ClassUtils.getAllInterfacesForClass(proxy.getClass()))
              .anyMatch(
                  type -> ClassUtils.hasMethod(type, method.getName(), method.getParameterTypes()));
      if (!reachable) {
        throw refused(
            method,
            "the bean's proxy has its interfaces only, and none of them has this method; see"
                + " spring.aop.proxy-target-class");
      }
    }
  }

  static IllegalStateException refused(Method method, String fault) {
    return new IllegalStateException("@Locked on " + LockedMethods.describe(method) + ": " + fault);
  }
}
