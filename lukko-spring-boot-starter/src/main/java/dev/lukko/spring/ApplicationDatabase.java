package dev.lukko.spring;

import dev.lukko.jdbc.JdbcNode;
import dev.lukko.spi.LockNode;
import java.util.List;
import java.util.function.Supplier;
import javax.sql.DataSource;

/** The database that the application has a data source for. */
final class ApplicationDatabase implements ApplicationStore {
  private final Supplier<DataSource> dataSource;
  private final LukkoProperties properties;

  ApplicationDatabase(Supplier<DataSource> dataSource, LukkoProperties properties) {
    this.dataSource = dataSource;
    this.properties = properties;
  }

  @Override
  public String description() {
    return "the application's data source";
  }

  @Override
  public List<LockNode> open() {
    DataSource own = Databases.besides(dataSource.get());
    return List.of(JdbcNodes.open(JdbcNode.builder(own), properties));
  }
}
