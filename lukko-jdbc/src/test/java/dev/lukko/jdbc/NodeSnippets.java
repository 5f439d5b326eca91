package dev.lukko.jdbc;

import dev.lukko.LockClient;
import dev.lukko.redis.RedisNode;
import dev.lukko.redlock.Redlock;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Code of the guide on SQL databases as nodes, here to be compiled. */
final class NodeSnippets {

  void nodes(DataSource dataSource) throws SQLException {
    // begin sql-nodes
    JdbcSchema.create(dataSource); // once; or run the statements of `lukko ddl`
    LockClient locks = Redlock.over(JdbcNode.over(dataSource));

    LockClient mixed =
        Redlock.over(
            JdbcNode.connect("jdbc:postgresql://db-a/locks?user=lukko"),
            JdbcNode.connect("jdbc:postgresql://db-b/locks?user=lukko"),
            RedisNode.connect("redis://cache-c"));
    // end sql-nodes
    mixed.close();
    locks.close();
  }
}
