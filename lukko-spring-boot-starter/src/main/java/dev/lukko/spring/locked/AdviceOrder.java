package dev.lukko.spring.locked;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.target.SingletonTargetSource;

/**
 * Where the lock stands among what else surrounds a method.
 *
 * <p>From the outside: {@code @Async}, {@code @Retryable}, {@code @Cacheable}, the lock,
 * {@code @Transactional}. So the lock is taken where the work runs, anew for each retry, not for
 * what a cache knows, and for longer than the transaction. Spring gives transactions and caches the
 * same, lowest precedence, between which no number fits; so the lock is put into its place, and
 * what belongs outside of it and stands inside is put there, too.
 */
final class AdviceOrder {
  private static final String TRANSACTION =
      "org.springframework.transaction.interceptor.TransactionInterceptor";
  private static final Set<String> OUTSIDE =
      Set.of(
          "org.springframework.cache.interceptor.CacheInterceptor",
          "org.springframework.retry.annotation.AnnotationAwareRetryOperationsInterceptor");
  private static final String ASYNC =
      "org.springframework.aop.interceptor.AsyncExecutionInterceptor";

  private AdviceOrder() {}

  /** Puts the lock into its place. */
  static void arrange(Advised proxy, Advisor lock) {
    List<Advisor> found = new ArrayList<>(List.of(proxy.getAdvisors()));
    if (proxy.isFrozen() || !found.contains(lock)) {
      return;
    }
    List<Advisor> wanted = arranged(found, lock);
    for (int i = 0; i < wanted.size(); i++) {
      if (proxy.getAdvisors()[i] != wanted.get(i)) {
        proxy.removeAdvisor(wanted.get(i));
        proxy.addAdvisor(i, wanted.get(i));
      }
    }
  }

  private static List<Advisor> arranged(List<Advisor> found, Advisor lock) {
    List<Advisor> outside = new ArrayList<>();
    List<Advisor> inside = new ArrayList<>();
    for (Advisor advisor : found) {
      boolean inTransaction = !inside.isEmpty() && !is(advisor, OUTSIDE);
      if (advisor != lock) {
        (inTransaction || is(advisor, Set.of(TRANSACTION)) ? inside : outside).add(advisor);
      }
    }
    outside.add(lock);
    outside.addAll(inside);
    return outside;
  }

  /** What is wrong with the order around a method of this bean, as a clause; null if nothing is. */
  static @Nullable String fault(Object bean, Advisor lock, Method method, Class<?> targetClass) {
    boolean locked = false;
    for (Advisor advisor : around(bean)) {
      if (advisor == lock) {
        locked = true;
      } else if (!locked && isTransactionOf(advisor, method, targetClass)) {
        return "its transaction begins before the lock is taken, and would be committed after the"
            + " lock's release; leave the transaction to @Transactional, or move the lock to the"
            + " caller";
      } else if (locked && is(advisor, Set.of(ASYNC)) && matches(advisor, method, targetClass)) {
        return "its execution in another thread begins inside of the lock, which would be released"
            + " at the hand-over";
      }
    }
    return null;
  }

  /** What surrounds a bean, from the outside, through proxies of proxies. */
  private static List<Advisor> around(Object bean) {
    List<Advisor> advisors = new ArrayList<>();
    Object layer = bean;
    while (layer instanceof Advised advised) {
      advisors.addAll(List.of(advised.getAdvisors()));
      layer =
          advised.getTargetSource() instanceof SingletonTargetSource fixed
              ? fixed.getTarget()
              : null;
    }
    return advisors;
  }

  private static boolean isTransactionOf(Advisor advisor, Method method, Class<?> targetClass) {
    return is(advisor, Set.of(TRANSACTION))
        && matches(advisor, method, targetClass)
        && TransactionAttributes.has(advisor.getAdvice(), method, targetClass);
  }

  private static boolean matches(Advisor advisor, Method method, Class<?> targetClass) {
    return !(advisor instanceof PointcutAdvisor pointed)
        || (pointed.getPointcut().getClassFilter().matches(targetClass)
            && pointed.getPointcut().getMethodMatcher().matches(method, targetClass));
  }

  /** By name, since an application need not have them. */
  private static boolean is(Advisor advisor, Set<String> names) {
    Advice advice = advisor.getAdvice();
    for (Class<?> type = advice.getClass(); type != null; type = type.getSuperclass()) {
      if (names.contains(type.getName())) {
        return true;
      }
    }
    return false;
  }
}
