package dev.lukko.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.spi.ForwardingNode;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.ReleaseReply;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** How many requests an undisturbed cycle costs: one grant and one release for each node. */
class ReleaseOnceTest {

  /** Its grants are answered when somebody says so. */
  private static final class Straggler extends ForwardingNode {
    final AtomicInteger releases = new AtomicInteger();
    final InMemoryNode store;
    private final CompletableFuture<Void> answer = new CompletableFuture<>();

    Straggler(InMemoryNode store) {
      super(store);
      this.store = store;
    }

    @Override
    public CompletionStage<GrantReply> grant(GrantRequest request) {
      CompletionStage<GrantReply> reply = super.grant(request);
      return answer.thenCompose(now -> reply);
    }

    @Override
    public CompletionStage<ReleaseReply> release(LockEntry entry) {
      releases.incrementAndGet();
      return super.release(entry);
    }

    void answer() {
      answer.complete(null);
    }
  }

  /** Something happens just before its release. */
  private static final class First extends ForwardingNode {
    private final Runnable before;

    First(Runnable before) {
      super(new InMemoryNode("first"));
      this.before = before;
    }

    @Override
    public CompletionStage<ReleaseReply> release(LockEntry entry) {
      before.run();
      return super.release(entry);
    }
  }

  @Test
  void nodeThatGrantsWhileTheReleaseIsHandedOutIsReleasedOnce() {
    Straggler straggler = new Straggler(new InMemoryNode("straggler"));
    First first = new First(straggler::answer);
    try (LockClient locks =
        Redlock.builder().nodes(List.of(first, new InMemoryNode("second"), straggler)).build()) {
      Lease lease = locks.acquire("r", Duration.ofMinutes(1));
      lease.release();

      assertThat(straggler.releases).hasValue(1);
      assertThat(straggler.store.isHeld("r")).isFalse();
    }
  }
}
