package dev.lukko.spring.locked;

import dev.lukko.LockClient;
import java.util.function.Supplier;
import org.springframework.aop.Advisor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.util.function.SingletonSupplier;

/**
 * Honours {@link dev.lukko.annotation.Locked} on the beans of an application, which needs a {@link
 * LockClient} and {@link LockedDefaults}. Both are looked up when they are needed first, since this
 * is there before all other beans.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public class LockedConfiguration {

  /** For the container. */
  public LockedConfiguration() {}

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static LockedBeanPostProcessor lockedBeanPostProcessor(
      ConfigurableListableBeanFactory beans,
      ObjectProvider<LockClient> client,
      ObjectProvider<LockedDefaults> defaults,
      Environment environment) {
    Supplier<LockedDefaults> settings = SingletonSupplier.of(defaults::getObject);
    LockedMethods methods = new LockedMethods(beans, () -> settings.get().ttl());
    LockedInterceptor interceptor =
        new LockedInterceptor(methods, SingletonSupplier.of(client::getObject));
    Advisor lock = new DefaultPointcutAdvisor(new LockedPointcut(), interceptor);
    LockedBeanCheck check = new LockedBeanCheck(methods, () -> settings.get().selfInvocation());
    boolean classes = environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true);
    return new LockedBeanPostProcessor(lock, check, classes);
  }

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static LockedStartCheck lockedStartCheck(
      ConfigurableListableBeanFactory beans,
      LockedBeanPostProcessor surrounded,
      ObjectProvider<LockClient> client) {
    return new LockedStartCheck(beans, surrounded, client::getObject);
  }
}
