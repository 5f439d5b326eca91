package dev.lukko.spring;

import dev.lukko.LockException;
import dev.lukko.jdbc.IdempotencyKeys;
import dev.lukko.jdbc.JdbcFence;
import dev.lukko.jdbc.JdbcLastRunStore;
import dev.lukko.schedule.LastRunStore;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.jdbc.datasource.DataSourceUtils;

/** The application's database: a store of its locks, and of what guards its data. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({JdbcFence.class, DataSourceUtils.class})
@ConditionalOnBean(DataSource.class)
class DataSourceConfiguration {

  @Bean
  @Order(2)
  ApplicationStore lukkoDataSourceStore(
      ObjectProvider<DataSource> dataSource, LukkoProperties properties) {
    return new ApplicationDatabase(dataSource::getObject, properties);
  }

  /** Beans for data that the application's only, or primary, data source leads to. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnSingleCandidate(DataSource.class)
  static class Guards {

    @Bean
    @ConditionalOnMissingBean
    JdbcFence jdbcFence(DataSource dataSource, LukkoProperties properties) {
      JdbcFence fence = JdbcFence.create();
      if (properties.createSchema()) {
        create("the table of fences", () -> createFence(fence, Databases.plain(dataSource)));
      }
      return fence;
    }

    @Bean
    @ConditionalOnMissingBean
    IdempotencyKeys idempotencyKeys(DataSource dataSource, LukkoProperties properties) {
      IdempotencyKeys keys = IdempotencyKeys.over(Databases.plain(dataSource));
      if (properties.createSchema()) {
        create("the table of idempotency keys", keys::createTable);
      }
      return keys;
    }

    @Bean
    @ConditionalOnMissingBean(LastRunStore.class)
    JdbcLastRunStore jdbcLastRunStore(DataSource dataSource, LukkoProperties properties) {
      JdbcLastRunStore store = JdbcLastRunStore.over(Databases.plain(dataSource));
      if (properties.createSchema()) {
        create("the tables of last runs", store::createTables);
      }
      return store;
    }

    private static void createFence(JdbcFence fence, DataSource database) throws SQLException {
      try (var connection = database.getConnection()) {
        fence.createTable(connection);
        if (!connection.getAutoCommit()) {
          connection.commit();
        }
      }
    }

    @FunctionalInterface
    private interface Creation {
      void run() throws SQLException;
    }

    private static void create(String what, Creation creation) {
      try {
        creation.run();
      } catch (SQLException refused) {
        throw new LockException("the database refused " + what, refused);
      }
    }
  }
}
