package dev.lukko.scenario;

import static dev.lukko.scenario.Rig.ms;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.LockException;
import dev.lukko.LockRequest;
import dev.lukko.redlock.Redlock;
import dev.lukko.redlock.RedlockBuilder;
import dev.lukko.testkit.EntryPoint;
import dev.lukko.testkit.LockCall;
import dev.lukko.time.Ticker;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A mistake inside, here a clock that throws, ends the call with its cause instead of hanging it.
 */
class MistakeTest {
  @RegisterExtension final Rig rig = Rig.of(3);

  @ParameterizedTest
  @ValueSource(ints = {4, 5, 6, 7})
  void clockThatThrowsInTheMiddleOfAnAcquisitionEndsItWithTheCause(int reading) {
    AtomicInteger readings = new AtomicInteger();
    Ticker broken =
        new Ticker() {
          @Override
          public long nanoTime() {
            if (readings.incrementAndGet() == reading) {
              throw new ArithmeticException("by the test");
            }
            return rig.time.nanoTime();
          }

          @Override
          public long wallMicros() {
            return rig.time.wallMicros();
          }
        };
    RedlockBuilder builder = Redlock.builder();
    rig.stores.forEach(store -> builder.node(rig.invariants.node(store)));
    Redlock client = rig.invariants.client(builder.ticker(broken).scheduler(rig.time).build());

    LockCall call =
        EntryPoint.ACQUIRE_ASYNC.call(client, LockRequest.builder(Rig.R).ttl(ms(10_000)).build());

    assertThat(call.failure())
        .isInstanceOf(LockException.class)
        .hasMessageContaining("[r]")
        .hasCauseInstanceOf(ArithmeticException.class);
  }
}
