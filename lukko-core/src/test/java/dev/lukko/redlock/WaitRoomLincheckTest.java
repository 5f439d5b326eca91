package dev.lukko.redlock;

import dev.lukko.LockRequest;
import dev.lukko.lease.Events;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;

/**
 * The line of waiters is first in, first out, whichever threads come, go and look at the same time.
 */
@Param(name = "waiter", gen = IntGen.class, conf = "0:2")
public class WaitRoomLincheckTest {
  private final WaitRoom room = new WaitRoom(List.of(), () -> Electorate.ofUnknown(0));
  private final List<AcquireLoop> waiters =
      IntStream.range(0, 3).mapToObj(number -> waiter()).toList();

  /** An empty room. */
  public WaitRoomLincheckTest() {}

  private static AcquireLoop waiter() {
    Settings settings =
        new Settings(
            0.01,
            0,
            0,
            0,
            0,
            null,
            null,
            0,
            Long.MAX_VALUE,
            null,
            true,
            false,
            false,
            true,
            false,
            "test");
    Context context =
        new Context(
            List.of(),
            new OpenReleases(),
            settings,
            StillTime.INSTANCE,
            StillTime.INSTANCE,
            Runnable::run,
            new Events(List.of(), Runnable::run),
            Entropy.system());
    return new AcquireLoop(
        context, LockRequest.of("r", Duration.ofSeconds(1)), "", Acquirer.NOBODY);
  }

  @Operation
  public void join(@Param(name = "waiter") int number) {
    room.join(waiters.get(number));
  }

  @Operation
  public void leave(@Param(name = "waiter") int number) {
    room.leave(waiters.get(number), false);
  }

  @Operation
  public boolean isFirst(@Param(name = "waiter") int number) {
    return room.isFirst(waiters.get(number));
  }

  @EnabledForJreRange(maxVersion = 17, disabledReason = "newer JDKs refuse the tool's agent")
  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void isLinearizable() {
    new ModelCheckingOptions()
        .iterations(5)
        .invocationsPerIteration(100)
        .threads(2)
        .actorsPerThread(3)
        .actorsBefore(2)
        .actorsAfter(2)
        .sequentialSpecification(Line.class)
        .check(WaitRoomLincheckTest.class);
  }

  /** A line with one thread. An empty one keeps nobody from being first. */
  public static class Line {
    private final Deque<Integer> waiters = new ArrayDeque<>();

    public void join(int number) {
      if (!waiters.contains(number)) {
        waiters.add(number);
      }
    }

    public void leave(int number) {
      waiters.remove((Integer) number);
    }

    public boolean isFirst(int number) {
      return waiters.isEmpty() || waiters.getFirst() == number;
    }
  }
}
