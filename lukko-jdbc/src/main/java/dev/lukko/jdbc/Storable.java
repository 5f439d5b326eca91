package dev.lukko.jdbc;

import dev.lukko.spi.Failed;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the tables can hold, judged before anything is sent. */
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
    List<String> names = entry.resources();
    for (int i = 0; i < names.size(); i++) {
      Failed resource = unfit("resource", names.get(i));
      if (resource != null) {
        return resource;
      }
    }
    return null;
  }

  private static @Nullable Failed unfit(String field, String value) {
    if (value.length() > MAX_LENGTH) {
      return new Failed(
          field
              + " has "
              + value.length()
              + " characters; an SQL node keeps at most "
              + MAX_LENGTH);
    }
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == 0 || (Character.isSurrogate(c) && !isPair(value, i))) {
        return new Failed(
            field + " has a zero or half a surrogate pair at index " + i + "; not storable");
      }
    }
    return null;
  }

  private static boolean isPair(String value, int index) {
    char c = value.charAt(index);
    return Character.isHighSurrogate(c)
        ? index + 1 < value.length() && Character.isLowSurrogate(value.charAt(index + 1))
        : index > 0 && Character.isHighSurrogate(value.charAt(index - 1));
  }
}
