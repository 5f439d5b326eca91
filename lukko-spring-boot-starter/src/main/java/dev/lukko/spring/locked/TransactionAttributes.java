package dev.lukko.spring.locked;

import java.lang.reflect.Method;
import org.aopalliance.aop.Advice;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.interceptor.TransactionAttributeSource;

/** Whether an interceptor of transactions begins one for a method. */
final class TransactionAttributes {
  private TransactionAttributes() {}

  static boolean has(Advice advice, Method method, Class<?> targetClass) {
    TransactionAttributeSource source =
        ((TransactionAspectSupport) advice).getTransactionAttributeSource();
    return source != null && source.getTransactionAttribute(method, targetClass) != null;
  }
}
