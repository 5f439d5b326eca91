package dev.lukko.own;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.memory.InMemoryNode;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.testkit.FaultyNode;
import dev.lukko.testkit.SoleFleet;
import dev.lukko.testkit.contract.LockNodeContract;
import dev.lukko.testkit.contract.StoreUnderTest;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A node in front of another one passes the suite that the other one passes. */
class CountingNodeTest extends LockNodeContract {

  @Override
  protected StoreUnderTest openStore() {
    LockNode memory = new InMemoryNode();
    return () -> new CountingNode(memory);
  }

  @Test
  void grantThatFailsIsCountedAndOneThatIsAnsweredIsNot() {
    FaultyNode store = new FaultyNode(new InMemoryNode());
    try (CountingNode node = new CountingNode(store)) {
      GrantRequest request =
          new GrantRequest(LockEntry.exclusive(List.of("r"), "owner"), 30_000, 1);

      SoleFleet.admittedGrant(node, request);
      assertThat(node.faults()).isZero();
      store.fault(FaultyNode.Fault.DOWN);
      SoleFleet.grant(node, request);
      assertThat(node.faults()).isEqualTo(1);
    }
  }
}
