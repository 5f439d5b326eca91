package dev.lukko.mongodb;

import dev.lukko.Holder;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.OwnerValue;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** What is stored for a resource, for people. */
final class Inspections {
  private Inspections() {}

  static Inspection of(LockDocument document, long nowMillis) {
    List<Held> living = new ArrayList<>();
    Held holder = document.holder();
    if (holder != null && holder.isAliveAt(nowMillis)) {
      living.add(holder);
    }
    document.readers().values().stream()
        .filter(reader -> reader.isAliveAt(nowMillis))
        .forEach(living::add);
    List<Holder> holders = living.stream().map(held -> held.describeAt(nowMillis)).toList();
    long counter = document.counter();
    return new Inspection(
        holders,
        counter == 0 ? OptionalLong.empty() : OptionalLong.of(counter),
        living.stream().map(held -> OwnerValue.fingerprint(held.owner())).toList());
  }
}
