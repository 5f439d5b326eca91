package dev.lukko.testkit.sim;

import java.util.List;

/** The deliberate bugs. Each would pass a casual review, and each has cost somebody a night. */
final class Mutants {
  private static final String TALLY = "redlock/Tally.java";
  private static final String LOOP = "redlock/AcquireLoop.java";
  private static final String ROUND = "redlock/Round.java";
  private static final String GRANT = "redlock/GrantRound.java";
  private static final String CONFIRM = "redlock/ConfirmRound.java";
  private static final String EXTEND = "redlock/ExtendRound.java";
  private static final String HOLD = "redlock/Hold.java";
  private static final String WINDOW = "redlock/ValidityWindow.java";
  private static final String TOKEN = "redlock/TokenSettlement.java";
  private static final String WATCHDOG = "redlock/Watchdog.java";
  private static final String CHANGE = "redlock/MembershipChange.java";
  private static final String FLEET = "redlock/FleetPlan.java";
  private static final String LOOK = "redlock/FleetLook.java";
  private static final String MEMBERSHIP = "redlock/FleetMembership.java";
  private static final String KEPT = "release/KeptReleases.java";
  private static final String OPEN = "release/OpenEntry.java";
  private static final String NODE = "memory/InMemoryNode.java";
  private static final String SLOT = "memory/MemorySlot.java";

  private Mutants() {}

  static List<Mutant> all() {
    return List.of(
        // ---- quorum
        Mutant.of(
            "a quorum is N/2", TALLY, "return nodes / 2 + 1;", "return Math.max(1, nodes / 2);"),
        Mutant.of(
            "a silent node counts as yes",
            ROUND,
            "timedOut ? Vote.FAULT : null",
            "timedOut ? Vote.YES : null"),
        Mutant.of(
            "an unknown outcome counts as extended",
            EXTEND,
            "return reply instanceof ExtendReply.Extended ? Vote.YES",
            "return reply instanceof ExtendReply.Extended || reply instanceof Unknown ? Vote.YES"),
        Mutant.of("one yes extends", HOLD, "if (tally.won()) {", "if (tally.yes() > 0) {"),
        // ---- validity
        Mutant.of(
            "the elapsed time is not checked",
            LOOP,
            "<= context.settings.minValidityNanos();",
            "<= Long.MIN_VALUE;"),
        Mutant.of(
            "validity counts from the decision",
            LOOP,
            "return context.window(won.startNanos(), won.wallStartMicros(), ttlNanos);",
            "return context.window("
                + "context.ticker.nanoTime(), context.ticker.wallMicros(), ttlNanos);"),
        Mutant.of(
            "validity counts from the first try",
            LOOP,
            "return context.window(won.startNanos(), won.wallStartMicros(), ttlNanos);",
            "return context.window(schedule.startNanos(), won.wallStartMicros(), ttlNanos);"),
        Mutant.of(
            "no drift is subtracted",
            WINDOW,
            "long length = ttlNanos - driftNanos;",
            "long length = ttlNanos;"),
        Mutant.of(
            "half the drift is subtracted",
            WINDOW,
            "long length = ttlNanos - driftNanos;",
            "long length = ttlNanos - driftNanos / 2;"),
        Mutant.of(
            "the wall clock is ignored",
            WINDOW,
            "return Math.min(byMonotonic, byWall);",
            "return byMonotonic;"),
        Mutant.of(
            "a lease is valid until a timer says otherwise",
            HOLD,
            "if (current.isOpen(now, wallNow)) {",
            "if (current.endNanos() != 1) {"),
        Mutant.of(
            "a lease is granted by the clock of its end",
            LOOP,
            "<= context.settings.minValidityNanos();",
            "<= -context.settings.driftNanos(ttlNanos);"),
        Mutant.of(
            "validity is not checked after the confirmation",
            LOOP,
            "} else if (isExhausted(voted)) { lose(voted, exhausted(voted));"
                + " } else if (tally.won()) { grant(voted, confirmed.number());",
            "} else if (tally.won()) { grant(voted, confirmed.number());"),
        // ---- owner
        Mutant.of(
            "the owner is reused across rounds",
            LOOP,
            "new LockEntry(resources(), context.owners.next(description), request.shared());",
            "new LockEntry(resources(), \"call-\" + System.identityHashCode(this),"
                + " request.shared());"),
        Mutant.of(
            "release without comparing",
            SLOT,
            "return holders.remove(owner) != null;",
            "boolean any = !holders.isEmpty(); holders.clear(); return any;"),
        Mutant.of(
            "extend without comparing",
            SLOT,
            "return holders.containsKey(owner);",
            "return !holders.isEmpty();"),
        Mutant.of(
            "repair over another's entry",
            NODE,
            "Holder inTheWay = slot.blockerOf(entry, null, now);",
            "Holder inTheWay = null;"),
        // ---- token
        Mutant.of(
            "the token is the first reply",
            TOKEN,
            "electorate.isMajority(node -> counters[node] == highest), highest);",
            "true, java.util.Arrays.stream(counters).filter(it -> it > 0).findFirst().orElse(0));"),
        Mutant.of(
            "the token is the highest reply",
            TOKEN,
            "electorate.isMajority(node -> counters[node] == highest), highest);",
            "highest > 0, highest);"),
        Mutant.of(
            "no write-back",
            LOOP,
            "confirm(voted, settlement.number());",
            "grant(voted, settlement.number());"),
        Mutant.of(
            "one confirmation settles the token",
            LOOP,
            "} else if (tally.won()) { grant(voted, confirmed.number());",
            "} else if (tally.yes() > 0) { grant(voted, confirmed.number());"),
        Mutant.of(
            "an unanswered confirmation counts as one",
            CONFIRM,
            "reply instanceof NodeFault ? Vote.FAULT",
            "reply instanceof NodeFault ? Vote.YES"),
        Mutant.of(
            "a grant of any number counts as a confirmation",
            CONFIRM,
            "grant.counter() == number",
            "grant.counter() > 0"),
        Mutant.of(
            "a reader is confirmed below its own number",
            NODE,
            "entry.shared() ? ownNumber(wanted, entry) : highestCounter(wanted);",
            "entry.shared() ? 0 : highestCounter(wanted);"),
        Mutant.of(
            "readers join a writer's number",
            SLOT,
            "return counter < number || givenToReader;",
            "return counter < number || counter > 0;"),
        Mutant.of(
            "readers join while any entry stands",
            SLOT,
            "return counter < number || givenToReader;",
            "return counter < number || !holders.isEmpty();"),
        Mutant.of(
            "readers join the number of a repair",
            SLOT,
            "raise(number, false);",
            "raise(number, entry.shared());"),
        Mutant.of(
            "a writer's number keeps the readers' mark",
            SLOT,
            "givenToReader = toReader;",
            "givenToReader |= toReader;"),
        Mutant.of(
            "confirm does not look at the owner",
            NODE,
            "return new ConfirmReply.NotHeld();",
            "wanted.size();"),
        Mutant.of(
            "confirm does not look at the counter",
            NODE,
            "if (lowest > counter) {",
            "if (lowest == Long.MAX_VALUE) {"),
        Mutant.of(
            "a grant does not raise the counter",
            NODE,
            "joins ? highest : Math.max(request.proposal(), highest + 1);",
            "joins ? highest : Math.max(request.proposal(), highest);"),
        Mutant.of(
            "a repeated grant raises the counter again",
            NODE,
            "return new GrantReply.Granted(wanted.get(0).numberOf(entry.owner()));",
            "return new GrantReply.Granted(highest + 1);"),
        Mutant.of(
            "the counter ends with the entry",
            SLOT,
            "return holders.remove(owner) != null;",
            "counter = 0; return holders.remove(owner) != null;"),
        Mutant.of(
            "the resource accepts any token",
            "fencing/InMemoryFence.java",
            "if (token < entry.highest || (once && token == entry.written)) {",
            "if (once && token == entry.written) {"),
        // ---- nodes
        Mutant.of(
            "a forgetful node votes at once",
            LOOK,
            "return majority && !client.strict() ? 0 : client.pauseMillis();",
            "return 0;"),
        Mutant.of(
            "a forgetful node votes after half the time",
            LOOK,
            "return majority && !client.strict() ? 0 : client.pauseMillis();",
            "return majority && !client.strict() ? 0 : client.pauseMillis() / 2;"),
        Mutant.of(
            "a strict client does not wait",
            LOOK,
            "return majority && !client.strict() ? 0 : client.pauseMillis();",
            "return majority ? 0 : client.pauseMillis();"),
        Mutant.of(
            "a forgotten record goes unnoticed",
            NODE,
            "runs++; setDirectory(new TreeMap<>());",
            ""),
        Mutant.of(
            "a node returns without a reading",
            MEMBERSHIP,
            "unread.forEach((node, record) -> look.changes[node] = FleetChange.of(record, 0));",
            "",
            "long lacking =",
            "unread.forEach((node, record) -> look.changes[node] = FleetChange.of(record, 0));"
                + " long lacking ="),
        // ---- fleets
        Mutant.of(
            "what another fleet has decided counts",
            NODE,
            "Long from = votesFromMillis.get(entry.seen());",
            "Long from = votesFromMillis.values().stream().min(Long::compare).orElse(null);"),
        Mutant.of(
            "a server without a record makes a new fleet",
            FLEET,
            "known.values().stream().filter(it -> it.fits(absent)).toList();",
            "known.values().stream().filter(it -> it.carriers() == look.seats.length).toList();",
            "&& absent < look.client.quorum()"
                + " && known.values().stream().noneMatch(it -> it.decidesElsewhere(it == formerly)))"
                + " {",
            ") {"),
        Mutant.of(
            "a client joins a smaller fleet while its own is out of reach",
            FLEET,
            "known.values().stream().filter(it -> it.fits(absent)).toList();",
            "known.values().stream().filter(it -> it.fits(0)).toList();"),
        Mutant.of(
                "one server has two votes through two addresses",
                LOOK,
                "} else if (twin != null) {",
                "} else if (twin != null && client.names().isEmpty()) {")
            .and(
                MEMBERSHIP,
                "Integer twin = bySelf.putIfAbsent(record.self(), i);",
                "Integer twin = bySelf.put(record.self() + i, i);"),
        Mutant.of(
            "an extension does not look at the record",
            NODE,
            "return !entry.seen().isEmpty() && !votesFromMillis.containsKey(entry.seen());",
            "return false;"),
        Mutant.of(
            "a change needs a majority of the next set alone",
            TALLY,
            "return yes >= quorum() && (next == null || next.won());",
            "return next == null ? yes >= quorum() : next.won();"),
        Mutant.of(
            "a change does not wait", CHANGE, "if (left > 0) {", "if (left > 2 * waitNanos) {"),
        Mutant.of(
            "entries never expire",
            SLOT,
            "holders.values().removeIf(held -> held.expiry - now <= 0);",
            "holders.values().removeIf(held -> held.expiry == 1);"),
        Mutant.of(
            "entries expire a little early",
            SLOT,
            "holders.values().removeIf(held -> held.expiry - now <= 0);",
            "holders.values().removeIf(held -> held.expiry - now <= 10_000_000);"),
        // ---- clean-up
        Mutant.of(
            "no clean-up after a lost round",
            LOOP,
            "private void lose(GrantRound lost, Loss loss) { lost.abandon();",
            "private void lose(GrantRound lost, Loss loss) {"),
        Mutant.of(
            "a cancelled call leaves its round behind",
            LOOP,
            "unfinished.abandon();",
            "",
            "if (isDone()) { voted.abandon(); return; }",
            "if (isDone()) { return; }",
            "if (isDone()) { voted.abandon(); } else if (isExhausted(voted)) {",
            "if (!isDone() && isExhausted(voted)) {"),
        Mutant.of(
            "a straggler is ignored",
            GRANT,
            "if (unwanted && (",
            "if (unwanted && states.isHeard() && ("),
        Mutant.of(
            "a release is said to be done by one node",
            "redlock/ReleaseRound.java",
            "tally.won() ? Status.RELEASED",
            "tally.yes() > 0 ? Status.RELEASED"),
        Mutant.of(
            "closing releases nothing",
            HOLD,
            "return context.settings.releaseOnClose() ?",
            "return context.settings.strict() ?"),
        Mutant.of("a loss is not told", HOLD, "signal.give(reason);", "signal.isAwaited();"),
        // ---- holding and extending
        Mutant.of(
            "the loss timer is late",
            WATCHDOG,
            "long delay = hold.remainingNanos();",
            "long delay = hold.remainingNanos() + ttlNanos / 20;"),
        Mutant.of(
            "a pause makes the loss timer late",
            WATCHDOG,
            "> STOOD_STILL_NANOS) {",
            "> Long.MAX_VALUE - 1) {"),
        Mutant.of(
            "the watchdog does not extend",
            WATCHDOG,
            "due = extending && !stopped",
            "due = extending && stopped"),
        Mutant.of(
            "an extension revives",
            HOLD,
            "if (!isValid()) { return false; // It ended while the answers were on their way;"
                + " a lost lease is never revived.\n }",
            "",
            "synchronized (this) { if (state != State.HELD) { return false; } long keptNanos",
            "synchronized (this) { state = State.HELD; long keptNanos"),
        Mutant.of(
            "an extension counts from its reply",
            HOLD,
            "context.window(extension.startNanos(), extension.wallStartMicros(), keptNanos);",
            "context.window("
                + "context.ticker.nanoTime(), context.ticker.wallMicros(), keptNanos);"),
        Mutant.of(
            "a shorter ttl counts only when it is confirmed",
            HOLD,
            "window.upTo(context.window(start, wallStart, ttlNanos));",
            "window;"),
        Mutant.of(
            "an overtaken extension is forgotten",
            HOLD,
            "Math.min(extension.ttlNanos(), earlier.boundNanos(round));",
            "extension.ttlNanos();"),
        Mutant.of(
            "repair after the end",
            EXTEND,
            "if (hold.isEnded() || !hold.isValid() || seen == null) {",
            "if (seen == null) {"),
        Mutant.of(
            "repair without its last moment",
            NODE,
            "if (clockMillis() > lastMillis) {",
            "if (clockMillis() > lastMillis && entry.owner().isEmpty()) {"),
        Mutant.of(
            "a repair names a last moment that never comes",
            EXTEND,
            "return missing.atMillis() + Math.min(leftMillis, REPAIRABLE_MILLIS);",
            "return missing.atMillis() + Math.max(1L << 40, leftMillis);"),
        // ---- repeated releases
        Mutant.of(
            "a release whose outcome is open is dropped",
            KEPT,
            "kept.putIfAbsent(release.open().entry(), release);",
            ""),
        Mutant.of(
            "a new connection drops the releases that are kept", KEPT, "wanted.add(release);", ""),
        Mutant.of(
            "a release is repeated while its repetition is on its way",
            KEPT,
            "due.forEach(release -> kept.remove(release.open().entry()));",
            ""),
        Mutant.of(
            "kept releases are repeated in another order",
            KEPT,
            "List<PendingRelease<R>> all = new ArrayList<>(kept.values());",
            "List<PendingRelease<R>> all = new ArrayList<>(kept.values());"
                + " java.util.Collections.reverse(all);"),
        Mutant.of(
            "an answer is final though the grant may follow",
            OPEN,
            "boolean grantMayFollow = grant != null && grant.mayFollow(connection);",
            "boolean grantMayFollow = false;"),
        Mutant.of(
            "an answer is final though a repair may follow",
            OPEN,
            "return !grantMayFollow && repairs.stream().noneMatch("
                + "repair -> repair.mayFollow(connection));",
            "return !grantMayFollow;"),
        Mutant.of(
            "a release that deletes a repaired entry is final",
            OPEN,
            "if (released && !repaired) {",
            "if (released) {"),
        Mutant.of(
            "a release is repeated for half a ttl",
            "release/PendingRelease.java",
            "return answered && sentNanos - answeredSinceNanos >= open.ttlNanos();",
            "return answered && sentNanos - answeredSinceNanos >= open.ttlNanos() / 2;"),
        // ---- waiting
        Mutant.of(
            "the wait budget is taken twice",
            "redlock/RetrySchedule.java",
            "return budgetLeftNanos() <= 0;",
            "return budgetLeftNanos() <= -budgetNanos;"),
        Mutant.of(
            "a silent node delays the decision",
            ROUND,
            "if (!decided) { timer = scheduler.schedule(this::expire, leftNanos()); }",
            "if (!decided) { timer = scheduler.schedule(this::expire, 50 * timeoutNanos); }"),
        Mutant.of(
            "a waiter sleeps past the holder's end",
            "redlock/WaitPlan.java",
            "Math.max(beatNanos, WATCHED_POLL_NANOS)",
            "Math.max(beatNanos, 20 * WATCHED_POLL_NANOS)",
            "wait = Math.min(wait, Math.min(leftNanos, wait) + AFTER_EXPIRY_NANOS);",
            "wait = Math.max(wait, AFTER_EXPIRY_NANOS + Math.min(leftNanos, 1));"));
  }
}
