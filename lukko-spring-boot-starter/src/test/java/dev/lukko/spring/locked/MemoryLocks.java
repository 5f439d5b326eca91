package dev.lukko.spring.locked;

import dev.lukko.LockClient;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Locks in memory, whatever stores the application has. */
@Configuration(proxyBeanMethods = false)
class MemoryLocks {

  @Bean
  LockClient locks() {
    return Redlock.over(new InMemoryNode());
  }
}
