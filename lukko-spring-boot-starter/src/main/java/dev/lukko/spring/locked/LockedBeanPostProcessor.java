package dev.lukko.spring.locked;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.core.Ordered;

/**
 * Surrounds beans with their locks: after transactions, caches and aspects have surrounded them,
 * and before {@code @Async}, {@code @Retryable} and {@code @Scheduled} look at them.
 */
final class LockedBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {
  private static final long serialVersionUID = 1L;

  private final transient Advisor lock;
  private final transient LockedBeanCheck check;
  private final Set<String> lockedBeans = ConcurrentHashMap.newKeySet();

  LockedBeanPostProcessor(Advisor lock, LockedBeanCheck check, boolean proxyTargetClass) {
    this.advisor = lock;
    this.lock = lock;
    this.check = check;
    setOrder(Ordered.LOWEST_PRECEDENCE - 100);
    setProxyTargetClass(proxyTargetClass);
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String beanName) {
    Class<?> targetClass = AopProxyUtils.ultimateTargetClass(bean);
    if (!check.hasLocks(bean, targetClass)) {
      return bean;
    }
    Object proxy = super.postProcessAfterInitialization(bean, beanName);
    if (proxy instanceof Advised advised) {
      AdviceOrder.arrange(advised, lock);
      lockedBeans.add(beanName);
    }
    check.requireReachable(proxy, targetClass);
    return proxy;
  }

  /** What is wrong with the order around a bean's locked methods is an error. */
  void requireOrder(Object bean) {
    Class<?> targetClass = AopProxyUtils.ultimateTargetClass(bean);
    for (Method method : check.locked(targetClass)) {
      String fault = AdviceOrder.fault(bean, lock, method, targetClass);
      if (fault != null) {
        throw LockedBeanCheck.refused(method, fault);
      }
    }
  }

  /** The names of the beans that have been surrounded. */
  Set<String> lockedBeans() {
    return Set.copyOf(lockedBeans);
  }
}
