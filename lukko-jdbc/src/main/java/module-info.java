/** Lock nodes, fence and idempotency keys on SQL databases. */
module dev.lukko.jdbc {
  requires transitive dev.lukko;
  requires transitive java.sql;
  requires static org.checkerframework.checker.qual;
  requires static org.jspecify;
  requires static org.postgresql.jdbc;

  exports dev.lukko.jdbc;

  uses java.sql.Driver;
}
