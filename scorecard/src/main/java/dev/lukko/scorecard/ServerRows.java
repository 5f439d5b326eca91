package dev.lukko.scorecard;

import dev.lukko.testkit.FaultProxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

/** Rows in which servers fail, or the ways to them. */
final class ServerRows {
  private static final String NAME = HolderRows.NAME;
  private static final int MINORITY = 2;
  private static final long POLL_MILLIS = 20;
  private static final double TTL_SECONDS = Bed.TTL.toSeconds();
  private static final double OVERLAP_SECONDS = 5;

  /** How much later than it happened a loss may be seen here. */
  private static final double MEASURING_SECONDS = 0.1;

  private static final double LEARN_SECONDS = 40;
  private static final long WAIT_MILLIS = 10_000;
  private static final long BEFORE_MILLIS = 500;
  private static final Duration JUMP = Duration.ofSeconds(4);

  private ServerRows() {}

  static Finding minorityGone(Bed bed, IntConsumer fault) throws InterruptedException {
    if (!bed.isQuorum()) {
      return Finding.notApplicable("one server");
    }
    fault.accept(MINORITY);
    Stopwatch watch = Stopwatch.start();
    String answer = bed.a().ask("lock " + NAME);
    return HolderRows.isHeld(answer)
        ? Finding.held("granted after %.2f s", watch.seconds())
        : Finding.broken("%s after %.1f s", answer, watch.seconds());
  }

  static Finding majorityGone(Bed bed, IntConsumer fault) throws InterruptedException {
    fault.accept(bed.majority());
    Stopwatch watch = Stopwatch.start();
    String answer = bed.a().ask("lock " + NAME);
    if (answer.equals(Peer.SILENCE)) {
      return Finding.broken(answer);
    }
    return HolderRows.isHeld(answer)
        ? Finding.broken("granted after %.2f s", watch.seconds())
        : Finding.held("%s after %.2f s", answer, watch.seconds());
  }

  static Finding memoryLost(Bed bed) throws InterruptedException {
    if (bed.library().isSql()) {
      return Finding.notApplicable("the table is on disk");
    }
    if (bed.isQuorum()) {
      // The holder shall have the other three only, as many as it needs.
      bed.links(bed.a()).subList(0, MINORITY).forEach(FaultProxy::cut);
    }
    Optional<Finding> failed = HolderRows.take(bed.a());
    if (failed.isPresent()) {
      return failed.get();
    }
    Stopwatch watch = Stopwatch.start();
    bed.loseMemory();
    return secondHolder(bed, watch);
  }

  static Finding clockJumps(Bed bed) throws InterruptedException {
    if (bed.library().isSql()) {
      return Finding.notApplicable("its clock cannot be set here");
    }
    if (!bed.hasClock()) {
      return Finding.notRun("no server whose clock can be set");
    }
    Optional<Finding> failed = HolderRows.take(bed.a());
    if (failed.isPresent()) {
      return failed.get();
    }
    Stopwatch watch = Stopwatch.start();
    bed.jump(JUMP);
    return secondHolder(bed, watch);
  }

  /**
   * Whether the second client is granted the lock within a ttl; if so, for how long the first one
   * goes on to believe that it holds it. A lock that is not extended has a right to less.
   */
  private static Finding secondHolder(Bed bed, Stopwatch watch) throws InterruptedException {
    double bound = bed.library().extendsLocks() ? TTL_SECONDS : TTL_SECONDS * 3 / 4;
    while (watch.seconds() < bound) {
      if (bed.a().wasToldOfLoss()) {
        return Finding.held("nobody else was; the holder was told of a loss");
      }
      if (HolderRows.isHeld(bed.b().ask("lock " + NAME))) {
        double grantedAfter = watch.seconds();
        return Finding.broken(
            "2 holders at once %.1f s after the fault; %s", grantedAfter, belief(bed.a()));
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
    return Finding.held("nobody else was for %.1f s", watch.seconds());
  }

  /** For how long a holder that is one no more goes on to believe it. */
  private static String belief(Peer holder) throws InterruptedException {
    Stopwatch watch = Stopwatch.start();
    while (watch.seconds() < OVERLAP_SECONDS) {
      if (holder.wasToldOfLoss()) {
        return Finding.text("the first was told of a loss %.1f s later", watch.seconds());
      }
      String answer = holder.ask("held");
      if (answer.equals("unsupported")) {
        return "the first cannot ask";
      }
      if (!answer.equals("yes")) {
        return Finding.text("the first said '%s' %.1f s later", answer, watch.seconds());
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
    return Finding.text("the first said 'yes' for %.1f s", watch.seconds());
  }

  static Finding replyLost(Bed bed) throws InterruptedException {
    byte[] name = NAME.getBytes(StandardCharsets.UTF_8);
    List<FaultProxy> links = bed.links(bed.a()).subList(0, bed.majority());
    links.forEach(link -> link.resetAtNextReply(request -> contains(request, name)));
    Stopwatch call = Stopwatch.start();
    String answer = bed.a().ask("lock " + NAME);
    double callSeconds = call.seconds();
    Stopwatch watch = Stopwatch.start();
    if (HolderRows.isHeld(answer)) {
      String unlock = bed.a().ask("unlock");
      boolean free = HolderRows.becomesFree(bed.b(), watch);
      Finding inTime =
          HolderRows.inTime(
              watch.seconds(),
              "granted all the same; unlock: " + unlock + ", free for others after %.1f s");
      return free ? inTime : Finding.broken(inTime.fact());
    }
    boolean free = HolderRows.becomesFree(bed.b(), watch);
    Finding inTime =
        HolderRows.inTime(
            watch.seconds(),
            Finding.text("%s after %.1f s; free for others ", answer, callSeconds)
                + "%.1f s later");
    return free ? inTime : Finding.broken(inTime.fact());
  }

  private static boolean contains(byte[] packet, byte[] word) {
    for (int at = 0; at + word.length <= packet.length; at++) {
      if (java.util.Arrays.equals(packet, at, at + word.length, word, 0, word.length)) {
        return true;
      }
    }
    return false;
  }

  static Finding holderLearns(Bed bed) throws InterruptedException {
    Optional<Finding> failed = HolderRows.take(bed.a());
    if (failed.isPresent()) {
      return failed.get();
    }
    String before = bed.a().ask("held");
    bed.hang(bed.library().servers());
    Stopwatch watch = Stopwatch.start();
    if (before.equals("unsupported")) {
      return Finding.notApplicable("no such question, no signal");
    }
    String said = "yes";
    while (said.equals("yes") && !bed.a().wasToldOfLoss() && watch.seconds() < LEARN_SECONDS) {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      Stopwatch question = Stopwatch.start();
      bed.a().send("held");
      String answer = Peer.SILENCE;
      while (answer.equals(Peer.SILENCE)
          && !bed.a().wasToldOfLoss()
          && (watch.seconds() < LEARN_SECONDS || question.seconds() < MEASURING_SECONDS)) {
        answer = bed.a().await(POLL_MILLIS);
      }
      said = answer.equals(Peer.SILENCE) ? "no answer" : answer;
    }
    double seconds =
        bed.a().wasToldOfLoss() ? watch.secondsAt(bed.a().lostNanos()) : watch.seconds();
    String fact =
        bed.a().wasToldOfLoss()
            ? Finding.text("told of the loss after %.1f s", seconds)
            : Finding.text("asked again and again; '%s' after %.1f s", said, seconds);
    return seconds <= TTL_SECONDS + MEASURING_SECONDS
        ? Finding.held("%s", fact)
        : Finding.broken("%s", fact);
  }

  static Finding wakeUpLost(Bed bed) throws InterruptedException {
    Optional<Finding> failed = HolderRows.take(bed.a());
    if (failed.isPresent()) {
      return failed.get();
    }
    bed.b().send("wait " + NAME + " " + WAIT_MILLIS);
    String early = bed.b().await(BEFORE_MILLIS);
    if (early.equals("unsupported")) {
      return Finding.notApplicable("no call that waits");
    }
    bed.links(bed.b()).forEach(FaultProxy::resetConnections);
    bed.a().ask("unlock");
    Stopwatch watch = Stopwatch.start();
    String answer = bed.b().await(2 * WAIT_MILLIS);
    return HolderRows.isHeld(answer)
        ? HolderRows.inTime(watch.seconds(), "granted %.1f s after the release")
        : Finding.broken("%s %.1f s after the release", answer, watch.seconds());
  }
}
