package dev.lukko.spring.locked;

import dev.lukko.LockClient;
import java.util.Objects;
import java.util.function.Supplier;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** Looks at what surrounds the locked methods in the end, when all beans are there. */
final class LockedStartCheck implements SmartInitializingSingleton {
  private final ConfigurableListableBeanFactory beans;
  private final LockedBeanPostProcessor surrounded;
  private final Supplier<LockClient> locks;

  LockedStartCheck(
      ConfigurableListableBeanFactory beans,
      LockedBeanPostProcessor surrounded,
      Supplier<LockClient> locks) {
    this.beans = beans;
    this.surrounded = surrounded;
    this.locks = locks;
  }

  @Override
  public void afterSingletonsInstantiated() {
    for (String name : surrounded.lockedBeans()) {
      // One that cannot be made is reported now, not at the first call.
      Objects.requireNonNull(locks.get());
      if (beans.containsSingleton(name)) {
        surrounded.requireOrder(beans.getBean(name));
      }
    }
  }
}
