/** Session locks, a work queue and once-per-tick jobs on PostgreSQL. */
module dev.lukko.postgres {
  requires transitive dev.lukko;
  requires transitive java.sql;
  requires org.postgresql.jdbc;

  exports dev.lukko.postgres;
}
