package dev.lukko.jdbc;

import dev.lukko.spi.FleetRecord;

/**
 * The tables that a connection leads to.
 *
 * <p>A data source may choose the database of a connection by itself: by a tenant, a thread, an
 * availability. Sessions of one node that work on different tables grant one lock twice.
 *
 * @param tables the identity that was drawn when the tables were created
 * @param where the database and the schema that they are in
 * @param server what tells servers apart that have a copy of these tables each, but not a server
 *     from its replica, which takes over; empty if it is not known
 */
record Place(String tables, String where, String server) {

  /** The run for which records are made, see {@link FleetTable}. */
  String run() {
    return run(tables);
  }

  /** The same if the tables have this identity by now. */
  String run(String identity) {
    return FleetRecord.idOf(server.isEmpty() ? identity : identity + " " + server);
  }

  /** Whether the tables are in the same place, though they may be others. */
  boolean isWhere(Place other) {
    return where.equals(other.where);
  }

  boolean hasTablesOf(Place other) {
    return tables.equals(other.tables) && where.equals(other.where);
  }

  /** Whether nothing tells the servers apart. */
  boolean hasServerOf(Place other) {
    return server.isEmpty() || other.server.isEmpty() || server.equals(other.server);
  }

  @Override
  public String toString() {
    return where + " (tables " + tables + (server.isEmpty() ? ")" : ", server " + server + ")");
  }
}
