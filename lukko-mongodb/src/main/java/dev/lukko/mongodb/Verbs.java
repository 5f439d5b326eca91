package dev.lukko.mongodb;

import dev.lukko.mongodb.FleetDocument.Check;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.NotVoting;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.spi.Unknown;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The node's verbs, blocking: read, decide, write what is still as it was read, and compare the
 * fleet's record once more; from the beginning if anything has changed meanwhile.
 *
 * <p>MongoDB's own transactions are not used: a single server has none, and they would add nothing
 * for one resource. Several resources are written one after the other, in the order of their names;
 * a grant that does not get all of them takes back what it has before it answers, so that no reply
 * ever tells of a part. Another client may see a part meanwhile, which is contention as any other.
 */
final class Verbs {
  private final MongoStore store;
  private final Calls calls;

  Verbs(MongoStore store, Calls calls) {
    this.store = store;
    this.calls = calls;
  }

  GrantReply grant(Call<?> call, GrantRequest request) {
    LockEntry entry = request.entry();
    for (int attempt = 1; ; attempt++) {
      Snapshot seen = read(call, entry);
      NotVoting refusal = seen.fleet().refusal(entry, Check.VOTING, seen.nowMillis());
      if (refusal != null) {
        return refusal;
      }
      Decisions decisions = seen.about(entry);
      GrantReply reply = decisions.grant();
      if (reply != null) {
        return reply;
      }
      boolean again = decisions.isMine();
      long number = again ? decisions.ownNumber() : decisions.nextNumber(request.proposal());
      Changes changes = new Changes(entry, seen.nowMillis());
      if (again
          ? written(call, seen, changes::stamp)
          : writtenWhole(
              call, seen, entry, each -> changes.grant(each, request.ttlMillis(), number))) {
        NotVoting changed = changed(call, entry, Check.VOTING, seen.nowMillis());
        if (changed == null) {
          return new GrantReply.Granted(number);
        }
        if (!again) {
          takeBack(call, entry, entry.resources());
        }
        return changed;
      }
      calls.pause(call, attempt);
    }
  }

  /** Writes all, or takes back what was written. */
  private boolean writtenWhole(
      Call<?> call, Snapshot seen, LockEntry entry, Function<LockDocument, Change> change) {
    List<String> written = new ArrayList<>();
    for (LockDocument document : seen.documents()) {
      if (!store.write(call, change.apply(document))) {
        takeBack(call, entry, written);
        return false;
      }
      written.add(document.name());
    }
    return true;
  }

  private void takeBack(Call<?> call, LockEntry entry, List<String> names) {
    for (String name : names) {
      var unused = store.release(call, Changes.release(entry, name));
    }
    call.notWritten(true);
  }

  ConfirmReply confirm(Call<?> call, LockEntry entry, long number) {
    for (int attempt = 1; ; attempt++) {
      Snapshot seen = read(call, entry);
      NotVoting refusal = seen.fleet().refusal(entry, Check.SAME, seen.nowMillis());
      if (refusal != null) {
        return refusal;
      }
      ConfirmReply reply = seen.about(entry).confirm(number);
      if (reply != null) {
        return reply;
      }
      Changes changes = new Changes(entry, seen.nowMillis());
      if (written(call, seen, each -> changes.confirm(each, number))) {
        NotVoting changed = changed(call, entry, Check.SAME, seen.nowMillis());
        return changed == null ? new ConfirmReply.Confirmed() : changed;
      }
      calls.pause(call, attempt);
    }
  }

  ExtendReply extend(Call<?> call, LockEntry entry, long ttlMillis) {
    for (int attempt = 1; ; attempt++) {
      Snapshot seen = read(call, entry);
      NotVoting refusal = seen.fleet().refusal(entry, Check.SAME, seen.nowMillis());
      if (refusal != null) {
        return refusal;
      }
      ExtendReply reply = seen.about(entry).extend();
      if (reply != null) {
        return reply;
      }
      Changes changes = new Changes(entry, seen.nowMillis());
      if (written(call, seen, each -> changes.extend(each, ttlMillis))) {
        NotVoting changed = changed(call, entry, Check.SAME, seen.nowMillis());
        return changed == null ? new ExtendReply.Extended() : changed;
      }
      calls.pause(call, attempt);
    }
  }

  ExtendReply repair(Call<?> call, LockEntry entry, long ttlMillis, long counter, long lastMillis) {
    for (int attempt = 1; ; attempt++) {
      Snapshot seen = read(call, entry);
      NotVoting refusal = seen.fleet().refusal(entry, Check.SAME, seen.nowMillis());
      if (refusal != null) {
        return refusal;
      }
      ExtendReply reply = seen.about(entry).repair(lastMillis);
      if (reply != null) {
        return reply;
      }
      // A document is there before it gets the entry: an insertion can have no condition on time.
      if (!createMissing(call, seen)) {
        Changes changes = new Changes(entry, seen.nowMillis());
        if (written(call, seen, each -> changes.repair(each, ttlMillis, counter, lastMillis))) {
          NotVoting changed = changed(call, entry, Check.SAME, seen.nowMillis());
          return changed == null
              ? new ExtendReply.Extended()
              : new Unknown("repaired while the fleet's record was replaced", changed.cause());
        }
      }
      calls.pause(call, attempt);
    }
  }

  private boolean createMissing(Call<?> call, Snapshot seen) {
    boolean created = false;
    for (LockDocument document : seen.documents()) {
      if (document.isMissing()) {
        var unused = store.write(call, new Change(null, Changes.free(document.name())));
        created = true;
      }
    }
    return created;
  }

  ReleaseReply release(Call<?> call, LockEntry entry) {
    boolean held = true;
    for (String name : entry.resources()) {
      held &= store.release(call, Changes.release(entry, name));
    }
    return held ? new ReleaseReply.Released() : new ReleaseReply.NotHeld();
  }

  /** Writes one after the other, up to the first that is no longer as it was read. */
  private boolean written(Call<?> call, Snapshot seen, Function<LockDocument, Change> change) {
    for (LockDocument document : seen.documents()) {
      if (!store.write(call, change.apply(document))) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether the record has been replaced since it was compared, or has been while it was written.
   */
  private @Nullable NotVoting changed(Call<?> call, LockEntry entry, Check check, long nowMillis) {
    if (entry.seen().isEmpty()) {
      return null;
    }
    FleetDocument fleet = store.fleet(call);
    if (fleet == null) {
      store.lookAnew();
      fleet = store.read(call, List.of()).fleet();
    }
    return fleet.refusal(entry, check, nowMillis);
  }

  /** Reads what is stored for an entry, after entries that claim too much time were shortened. */
  private Snapshot read(Call<?> call, LockEntry entry) {
    return read(call, entry.resources());
  }

  Snapshot read(Call<?> call, List<String> names) {
    while (true) {
      Snapshot seen = store.read(call, names);
      boolean shortened = false;
      for (LockDocument document : seen.documents()) {
        shortened |= shortened(call, document, seen.nowMillis());
      }
      if (!shortened) {
        return seen;
      }
    }
  }

  private boolean shortened(Call<?> call, LockDocument document, long nowMillis) {
    boolean any = false;
    Held holder = document.holder();
    if (holder != null && holder.isOverlongAt(nowMillis)) {
      any = shorten(call, document, LockDocument.HOLDER, holder, nowMillis);
    }
    for (Map.Entry<String, Held> reader : document.readers().entrySet()) {
      if (reader.getValue().isOverlongAt(nowMillis)) {
        String path = LockDocument.READERS + "." + reader.getKey();
        any |= shorten(call, document, path, reader.getValue(), nowMillis);
      }
    }
    return any;
  }

  private boolean shorten(
      Call<?> call, LockDocument document, String path, Held held, long nowMillis) {
    var unused = store.write(call, Changes.shorten(document.name(), path, held, nowMillis));
    call.notWritten(true); // Nothing of the call's own.
    return true;
  }
}
