package dev.lukko.spring;

import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.util.ClassUtils;

/** Applications as Spring Boot makes them, with names that differ between its lines. */
final class Applications {
  private static final String[] REDIS = {
    "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
    "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration"
  };
  private static final String[] DATA_SOURCE = {
    "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
    "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration"
  };

  private Applications() {}

  static ApplicationContextRunner plain() {
    return of();
  }

  static ApplicationContextRunner withRedis() {
    return of(REDIS);
  }

  static ApplicationContextRunner withDataSource() {
    return of(DATA_SOURCE).withPropertyValues("spring.datasource.generate-unique-name=true");
  }

  static ApplicationContextRunner withBoth() {
    return of(REDIS[0], REDIS[1], DATA_SOURCE[0], DATA_SOURCE[1]);
  }

  private static ApplicationContextRunner of(String... names) {
    List<Class<?>> found = new ArrayList<>();
    for (String name : names) {
      if (ClassUtils.isPresent(name, null)) {
        found.add(ClassUtils.resolveClassName(name, null));
      }
    }
    if (found.size() != names.length / 2) {
      throw new IllegalStateException("of " + List.of(names) + " there is " + found);
    }
    found.add(LukkoAutoConfiguration.class);
    return new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(found.toArray(Class<?>[]::new)));
  }
}
