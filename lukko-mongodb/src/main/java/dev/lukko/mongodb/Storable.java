package dev.lukko.mongodb;

import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** What documents can hold, judged before anything is sent. */
final class Storable {
  private static final int MAX_LENGTH = 255;

  private Storable() {}

  static @Nullable Failed unfit(LockEntry entry, long counter) {
    return counter < 0 || counter > GrantRequest.MAX_COUNTER
        ? new Failed(
            "counter is " + counter + "; it must be between 0 and " + GrantRequest.MAX_COUNTER)
        : unfit(entry);
  }

  static @Nullable Failed unfit(LockEntry entry) {
    Failed owner = unfit("owner", entry.owner());
    if (owner != null) {
      return owner;
    }
    for (String name : entry.resources()) {
      Failed resource = unfit("resource", name);
      if (resource != null) {
        return resource;
      }
    }
    return null;
  }

  private static @Nullable Failed unfit(String field, String value) {
    if (value.length() > MAX_LENGTH) {
      return new Failed(
          field + " has " + value.length() + " characters; a node keeps at most " + MAX_LENGTH);
    }
    return StandardCharsets.UTF_8.newEncoder().canEncode(value)
        ? null
        : new Failed(field + " has half a surrogate pair; it is no text that can be stored");
  }
}
