package dev.lukko.spring;

import dev.lukko.LockClient;
import dev.lukko.LockListener;
import dev.lukko.schedule.LastRunStore;
import dev.lukko.schedule.OncePerTick;
import dev.lukko.spring.locked.LockedConfiguration;
import dev.lukko.spring.locked.LockedDefaults;
import dev.lukko.time.Ticker;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/** Locks for a Spring Boot application. */
@AutoConfiguration(
    afterName = {
      // Since Spring Boot 4, and before.
      "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
      "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
      "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
      "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration"
    })
@EnableConfigurationProperties(LukkoProperties.class)
@Import({RedisConfiguration.class, DataSourceConfiguration.class, LockedConfiguration.class})
public class LukkoAutoConfiguration {

  /** For the container. */
  public LukkoAutoConfiguration() {}

  @Bean
  LockedDefaults lukkoLockedDefaults(LukkoProperties properties) {
    return new LockedDefaults(properties.ttl(), properties.selfInvocation());
  }

  @Bean
  @ConditionalOnMissingBean
  OncePerTick oncePerTick(
      LockClient locks, ObjectProvider<LastRunStore> store, Environment environment) {
    OncePerTick.Builder builder =
        OncePerTick.builder(
            locks, store.getIfAvailable(() -> LastRunStore.inMemory(Ticker.system())));
    String application = environment.getProperty("spring.application.name", "");
    return application.isEmpty() ? builder.build() : builder.application(application).build();
  }

  /** The client, unless the application makes its own. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnMissingBean(LockClient.class)
  static class Client {

    @Bean
    LockClient lockClient(
        LukkoProperties properties,
        ObjectProvider<ApplicationStore> stores,
        ObjectProvider<LockListener> listeners,
        ObjectProvider<LockClientCustomizer> customizers) {
      return new LockClientFactory(properties, stores.orderedStream().findFirst().orElse(null))
          .create(listeners.orderedStream().toList(), customizers.orderedStream().toList());
    }

    @Bean
    ClientShutdown lockClientShutdown(LockClient client, ApplicationContext context) {
      return new ClientShutdown(client, context);
    }
  }
}
