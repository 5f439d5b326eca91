package dev.lukko.scorecard;

import dev.lukko.fencing.InMemoryFence;
import dev.lukko.fencing.StaleTokenException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Rows in which the holder fails, or nothing does. */
final class HolderRows {
  static final String NAME = "scorecard-row";

  private static final String NO_QUESTION = "no such question";
  private static final String NOT_GRANTED = "the free lock was not granted for 10 s: %s";
  private static final double TTL_SECONDS = Bed.TTL.toSeconds();
  private static final double SLACK_SECONDS = 1;
  private static final double PATIENCE_SECONDS = 10;
  private static final long POLL_MILLIS = 20;

  private HolderRows() {}

  static Finding twoClients(Bed bed) throws InterruptedException {
    return second(bed, bed.b(), "lock ");
  }

  static Finding twoThreads(Bed bed) throws InterruptedException {
    return second(bed, bed.a(), "other ");
  }

  /** The first client takes the lock; then somebody else asks for it. */
  private static Finding second(Bed bed, Peer asking, String verb) throws InterruptedException {
    Optional<Finding> failed = take(bed.a());
    if (failed.isPresent()) {
      return failed.get();
    }
    String second = asking.ask(verb + NAME);
    return isHeld(second)
        ? Finding.broken("2 holders at once")
        : Finding.held("second: %s", second);
  }

  static Finding holderKilled(Bed bed) throws InterruptedException {
    Optional<Finding> failed = take(bed.a());
    if (failed.isPresent()) {
      return failed.get();
    }
    Stopwatch watch = Stopwatch.start();
    bed.a().kill();
    if (!becomesFree(bed.b(), watch)) {
      return Finding.broken("not free after %.1f s", watch.seconds());
    }
    return inTime(watch.seconds(), "free after %.1f s");
  }

  static Finding pausedHolderAsked(Bed bed) throws InterruptedException {
    Optional<Finding> failed = overtake(bed);
    if (failed.isPresent()) {
      return failed.get();
    }
    Stopwatch watch = Stopwatch.start();
    String answer = bed.a().ask("held");
    if (answer.equals("unsupported")) {
      return Finding.notApplicable(NO_QUESTION);
    }
    return answer.equals("yes") || answer.equals(Peer.SILENCE)
        ? Finding.broken("said '%s' while another held it", answer)
        : Finding.held("said '%s' after %.0f ms", answer, watch.seconds() * 1_000);
  }

  static Finding pausedHolderWrites(Bed bed) throws InterruptedException {
    String first = firstGrant(bed.a(), Stopwatch.start());
    if (!isHeld(first)) {
      return Finding.broken(NOT_GRANTED, first);
    }
    if (token(first).isEmpty()) {
      return Finding.notApplicable("no token is given out");
    }
    bed.a().pause();
    Stopwatch watch = Stopwatch.start();
    String second = firstGrant(bed.b(), watch);
    bed.a().resume();
    Optional<Long> later = token(second);
    if (later.isEmpty()) {
      return Finding.broken("not free after %.1f s", watch.seconds());
    }
    InMemoryFence fence = new InMemoryFence();
    fence.check(NAME, later.get());
    try {
      fence.check(NAME, token(first).orElseThrow());
      return Finding.broken("token %s was taken behind %s", first, second);
    } catch (StaleTokenException refused) {
      return Finding.held("refused, the first token is lower than the second");
    }
  }

  static Finding pausedHolderUnlocks(Bed bed) throws InterruptedException {
    Optional<Finding> failed = overtake(bed);
    if (failed.isPresent()) {
      return failed.get();
    }
    String unlock = bed.a().ask("unlock");
    String third = bed.another().ask("lock " + NAME);
    return isHeld(third)
        ? Finding.broken("unlock: %s; a third client was granted the lock", unlock)
        : Finding.held("unlock: %s; the lock stayed", unlock);
  }

  /** The first client takes the lock and is paused until the second has it. */
  private static Optional<Finding> overtake(Bed bed) throws InterruptedException {
    Optional<Finding> failed = take(bed.a());
    if (failed.isPresent()) {
      return failed;
    }
    bed.a().pause();
    Stopwatch watch = Stopwatch.start();
    boolean free = becomesFree(bed.b(), watch);
    bed.a().resume();
    return free
        ? Optional.empty()
        : Optional.of(Finding.broken("not free after %.1f s", watch.seconds()));
  }

  /** A client takes the lock, which nobody holds; what went wrong if it does not get it. */
  static Optional<Finding> take(Peer peer) throws InterruptedException {
    String answer = firstGrant(peer, Stopwatch.start());
    return isHeld(answer) ? Optional.empty() : Optional.of(Finding.broken(NOT_GRANTED, answer));
  }

  /** Asks again and again until the lock is granted; false if it is not, for long. */
  static boolean becomesFree(Peer peer, Stopwatch watch) throws InterruptedException {
    return isHeld(firstGrant(peer, watch));
  }

  private static String firstGrant(Peer peer, Stopwatch watch) throws InterruptedException {
    while (true) {
      String answer = peer.ask("lock " + NAME);
      if (isHeld(answer) || watch.seconds() > PATIENCE_SECONDS) {
        return answer;
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
  }

  /** Held if it was not later than the ttl and a little more. */
  static Finding inTime(double seconds, String fact) {
    return seconds <= TTL_SECONDS + SLACK_SECONDS
        ? Finding.held(fact, seconds)
        : Finding.broken(fact, seconds);
  }

  static boolean isHeld(String answer) {
    return answer.startsWith("held");
  }

  private static Optional<Long> token(String answer) {
    String text = answer.substring(answer.indexOf(' ') + 1);
    return isHeld(answer) && !text.equals("-")
        ? Optional.of(Long.parseLong(text))
        : Optional.empty();
  }
}
