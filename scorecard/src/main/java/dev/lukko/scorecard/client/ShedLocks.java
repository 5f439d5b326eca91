package dev.lukko.scorecard.client;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * ShedLock's providers; the ttl is {@code lockAtMostFor}, and nothing is held longer than needed.
 */
final class ShedLocks implements Locks {
  private final LockProvider provider;
  private final Duration ttl;

  private ShedLocks(LockProvider provider, Duration ttl) {
    this.provider = provider;
    this.ttl = ttl;
  }

  static ShedLocks redis(LettuceConnectionFactory connections, Duration ttl) {
    return new ShedLocks(new RedisLockProvider(connections), ttl);
  }

  static ShedLocks jdbc(String url, Duration ttl) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    HikariDataSource source = new HikariDataSource(config);
    return new ShedLocks(
        new JdbcTemplateLockProvider(
            JdbcTemplateLockProvider.Configuration.builder()
                .withJdbcTemplate(new JdbcTemplate(source))
                .usingDbTime()
                // By default the name of the host: the clients stand for two hosts.
                .withLockedByValue("client-" + ProcessHandle.current().pid())
                .build()),
        ttl);
  }

  @Override
  public Optional<Held> tryLock(String name) {
    Optional<SimpleLock> lock =
        provider.lock(new LockConfiguration(Instant.now(), name, ttl, Duration.ZERO));
    return lock.map(granted -> granted::unlock);
  }
}
