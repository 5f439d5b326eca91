package dev.lukko.spring.locked;

import dev.lukko.spring.LukkoAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Applications with locks in memory. */
final class Contexts {
  private Contexts() {}

  static ApplicationContextRunner with(Class<?>... configuration) {
    return new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(AopAutoConfiguration.class, LukkoAutoConfiguration.class))
        .withUserConfiguration(configuration);
  }
}
