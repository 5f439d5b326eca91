package dev.lukko.annotation;

import dev.lukko.LockRequest;
import java.time.Duration;
import java.util.Collection;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One {@link Locked} with its texts read.
 *
 * @param key the names
 * @param ttl the ttl
 * @param maxWait the wait budget, or null for the default
 * @param locked the annotation itself, for what needs no reading
 */
public record LockSettings(
    KeyExpression key, Duration ttl, @Nullable Duration maxWait, Locked locked) {

  /**
   * @throws IllegalArgumentException if a request cannot be made with these values
   */
  public LockSettings {
    Objects.requireNonNull(requestFor("checked", ttl, maxWait, locked));
  }

  /** What to ask for in this call. */
  public LockRequest request(MethodCall call) {
    Collection<String> names = key.names(call);
    return complete(LockRequest.builder(names), ttl, maxWait, locked);
  }

  private static LockRequest requestFor(
      String name, Duration ttl, @Nullable Duration maxWait, Locked locked) {
    return complete(LockRequest.builder(name), ttl, maxWait, locked);
  }

  private static LockRequest complete(
      LockRequest.Builder request, Duration ttl, @Nullable Duration maxWait, Locked locked) {
    request.ttl(ttl).autoExtend(locked.autoExtend()).shared(locked.shared()).fair(locked.fair());
    if (maxWait != null) {
      request.maxWait(maxWait);
    } else if (locked.onBusy() != OnBusy.THROW) {
      request.maxWait(Duration.ZERO);
    }
    return request.build();
  }
}
