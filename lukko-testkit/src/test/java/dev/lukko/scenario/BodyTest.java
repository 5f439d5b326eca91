package dev.lukko.scenario;

import static dev.lukko.scenario.Rig.ms;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.Lease;
import dev.lukko.LeaseAction;
import dev.lukko.LeaseFunction;
import dev.lukko.LeaseLostException;
import dev.lukko.LockRequest;
import dev.lukko.QuorumUnavailableException;
import dev.lukko.testkit.FaultyNode.Fault;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Bodies that run under a lock. */
class BodyTest {
  @RegisterExtension final Rig rig = Rig.of(3);
  private final AtomicInteger runs = new AtomicInteger();

  @Test
  void tryRunRunsTheBodyUnderAFreeLockAndReleasesIt() {
    boolean ran =
        rig.client()
            .tryRun(
                Rig.R,
                ms(1_000),
                lease -> {
                  lease.ensureValid();
                  runs.incrementAndGet();
                });

    assertThat(ran).isTrue();
    assertThat(runs).hasValue(1);
    assertThat(rig.held()).isEmpty();
  }

  @Test
  void tryRunDoesNotRunTheBodyUnderAHeldLock() {
    Lease lease = rig.party().client().acquire(Rig.R, ms(1_000));

    assertThat(rig.client().tryRun(Rig.R, ms(1_000), held -> runs.incrementAndGet())).isFalse();

    assertThat(runs).hasValue(0);
    lease.release();
  }

  @Test
  void tryRunFailsWhereNoDecisionIsPossible() {
    rig.main().fault(Fault.DOWN);

    assertThatThrownBy(() -> rig.client().tryRun(Rig.R, ms(1_000), held -> runs.incrementAndGet()))
        .isInstanceOf(QuorumUnavailableException.class);
    assertThat(runs).hasValue(0);
  }

  @Test
  void tryRunReportsALeaseThatWasLostDuringTheBody() {
    LockRequest request = LockRequest.builder(Rig.R).ttl(ms(1_000)).autoExtend(false).build();

    assertThatThrownBy(() -> rig.client().tryRun(request, lease -> rig.time.advance(ms(2_000))))
        .isInstanceOf(LeaseLostException.class);
  }

  @Test
  void aBodyThatThrowsAnyThrowableIsPassedOnUnchanged() {
    Throwable thrown = new Throwable("neither an exception nor an error");
    LeaseFunction<String, Throwable> proceeding =
        lease -> {
          throw thrown;
        };
    LeaseAction<Throwable> acting =
        lease -> {
          throw thrown;
        };

    assertThatThrownBy(() -> rig.client().using(Rig.R, ms(1_000), proceeding)).isSameAs(thrown);
    assertThatThrownBy(() -> rig.client().run(Rig.R, ms(1_000), acting)).isSameAs(thrown);
    assertThatThrownBy(() -> rig.client().tryRun(Rig.R, ms(1_000), acting)).isSameAs(thrown);
    assertThat(rig.held()).isEmpty();
  }

  @Test
  void anAutoExtendedRequestKeepsATriedLeaseBeyondItsTtl() {
    AtomicReference<Lease> lease = new AtomicReference<>();
    rig.client().tryAcquire(LockRequest.autoExtended(Rig.R, ms(1_000))).ifPresent(lease::set);

    rig.time.advance(ms(5_000));

    assertThat(lease.get().isValid()).isTrue();
    lease.get().release();
  }
}
