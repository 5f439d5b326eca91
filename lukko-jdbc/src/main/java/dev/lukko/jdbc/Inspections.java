package dev.lukko.jdbc;

import dev.lukko.Holder;
import dev.lukko.jdbc.NamedSql.Values;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.OwnerValue;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** Reads what a database has stored for a resource. */
final class Inspections {
  private Inspections() {}

  static Inspection read(Session session, String resource) throws SQLException {
    Values values = new Values(List.of(resource), "", 0, 0);
    LockRow row = SingleVerbs.read(session, values);
    if (row == null) {
      return new Inspection(List.of(), OptionalLong.empty(), List.of());
    }
    if (row.counter() < 0 || row.counter() > GrantRequest.MAX_COUNTER) {
      throw new SQLException("the counter of \"" + resource + "\" holds garbage", "22000");
    }
    List<Holder> holders = new ArrayList<>();
    List<String> fingerprints = new ArrayList<>();
    String owner = row.owner();
    if (owner != null && row.isHeld()) {
      holders.add(OwnerValue.describe(owner, Slot.duration(row.livesMicros())));
      fingerprints.add(OwnerValue.fingerprint(owner));
    }
    for (SharedRow reader : LockedVerbs.readShared(session, values)) {
      holders.add(OwnerValue.describe(reader.owner(), Slot.duration(reader.livesMicros())));
      fingerprints.add(OwnerValue.fingerprint(reader.owner()));
    }
    // A row that was created and never granted has no counter yet.
    OptionalLong counter =
        row.counter() == 0 ? OptionalLong.empty() : OptionalLong.of(row.counter());
    return new Inspection(holders, counter, fingerprints);
  }
}
