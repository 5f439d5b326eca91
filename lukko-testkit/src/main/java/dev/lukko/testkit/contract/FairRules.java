package dev.lukko.testkit.contract;

import static dev.lukko.testkit.contract.Ask.exclusive;
import static dev.lukko.testkit.contract.Ask.fresh;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.spi.Capability;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantReply.Refused;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.testkit.SoleFleet;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Waiters with a ticket are served in the order of their tickets. */
interface FairRules extends ContractRules {

  private GrantReply queue(LockEntry entry, FairTicket ticket) {
    return Ask.answer(SoleFleet.grant(node(), new GrantRequest(entry, Ask.LONG_MILLIS, 1, ticket)));
  }

  private static FairTicket ticket(long order, long leaseMillis) {
    return new FairTicket(fresh("waiter"), order, leaseMillis);
  }

  @Test
  default void shouldServeWaitersInTheOrderOfTheirTickets() {
    require(Capability.FAIR);
    String resource = fresh("r");
    LockEntry holder = exclusive(fresh("holder"), resource);
    Ask.granted(node(), holder, 5);
    LockEntry first = exclusive(fresh("owner"), resource);
    LockEntry second = exclusive(fresh("owner"), resource);
    FairTicket firstTicket = ticket(10, Ask.LONG_MILLIS);
    FairTicket secondTicket = ticket(20, Ask.LONG_MILLIS);
    assertThat(queue(second, secondTicket)).isInstanceOf(Refused.class);
    assertThat(queue(first, firstTicket)).isInstanceOf(Refused.class);
    Ask.released(node(), holder);
    assertThat(queue(second, secondTicket)).as("not its turn").isInstanceOf(Refused.class);
    assertThat(queue(first, firstTicket)).isEqualTo(new Granted(6));
    assertThat(queue(first, firstTicket)).as("repeated").isEqualTo(new Granted(6));
    Ask.released(node(), first);
    assertThat(queue(second, secondTicket)).isEqualTo(new Granted(7));
  }

  @Test
  default void shouldPassOverAWaiterThatLeft() {
    require(Capability.FAIR);
    String resource = fresh("r");
    LockEntry holder = exclusive(fresh("holder"), resource);
    Ask.granted(node(), holder, 5);
    LockEntry gone = exclusive(fresh("owner"), resource);
    FairTicket goneTicket = ticket(10, Ask.LONG_MILLIS);
    assertThat(queue(gone, goneTicket)).isInstanceOf(Refused.class);
    node().leave(gone, goneTicket);
    node().leave(gone, goneTicket);
    Ask.released(node(), holder);
    assertThat(queue(exclusive(fresh("owner"), resource), ticket(20, Ask.LONG_MILLIS)))
        .isEqualTo(new Granted(6));
  }

  @Test
  default void shouldPassOverAWaiterThatDiedWhenItsLeaseEnds() throws Exception {
    require(Capability.FAIR);
    String resource = fresh("r");
    LockEntry holder = exclusive(fresh("holder"), resource);
    Ask.granted(node(), holder, 5);
    assertThat(queue(exclusive(fresh("dead"), resource), ticket(10, Ask.BRIEF_MILLIS)))
        .isInstanceOf(Refused.class);
    Ask.released(node(), holder);
    if (has(StoreTrait.MOVES_CLOCK)) {
      store().moveClock(Duration.ofMillis(Ask.BRIEF_MILLIS));
    }
    LockEntry alive = exclusive(fresh("owner"), resource);
    FairTicket ticket = ticket(20, Ask.LONG_MILLIS);
    await("the living waiter's turn", () -> queue(alive, ticket).equals(new Granted(6)));
  }
}
