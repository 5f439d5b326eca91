package dev.lukko.spring;

import javax.sql.DataSource;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.util.ClassUtils;

/** Data sources for work that belongs to no transaction of the application's. */
final class Databases {
  private static final System.Logger LOG = System.getLogger(Databases.class.getName());

  /** Since Spring Boot 4 an application may have Spring's JDBC without Boot's. */
  private static final boolean HAS_BUILDER =
      ClassUtils.isPresent(
          "org.springframework.boot.jdbc.DataSourceBuilder", Databases.class.getClassLoader());

  private Databases() {}

  /** The data source behind those that hand out the connection of the running transaction. */
  static DataSource plain(DataSource dataSource) {
    DataSource plain = dataSource;
    while (plain instanceof DelegatingDataSource proxy && proxy.getTargetDataSource() != null) {
      plain = proxy.getTargetDataSource();
    }
    return plain;
  }

  /**
   * One with the same URL and login and connections of its own, so that holders of locks that have
   * used up the pool cannot keep their own leases from being extended; the pool itself, if it does
   * not tell these.
   */
  static DataSource besides(DataSource dataSource) {
    DataSource plain = plain(dataSource);
    if (!HAS_BUILDER) {
      return plain;
    }
    try {
      return DataSourceBuilder.derivedFrom(plain).type(SimpleDriverDataSource.class).build();
    } catch (RuntimeException untold) {
      LOG.log(
          System.Logger.Level.INFO,
          "locks use connections of the application''s pool, since {0} does not tell its URL and"
              + " login",
          plain.getClass().getName());
      LOG.log(System.Logger.Level.DEBUG, "the data source is not derived", untold);
      return plain;
    }
  }
}
