package dev.lukko.spring;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** The application's Redis as the store of its locks. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(RedisConnectionFactory.class)
@ConditionalOnBean(RedisConnectionFactory.class)
class RedisConfiguration {

  @Bean
  @Order(1)
  ApplicationStore lukkoRedisStore(
      ObjectProvider<RedisConnectionFactory> connections, LukkoProperties properties) {
    return new ApplicationRedis(connections::getObject, properties);
  }
}
