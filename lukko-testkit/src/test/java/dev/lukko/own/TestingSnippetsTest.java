package dev.lukko.own;

import dev.lukko.Lease;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.FaultyNode;
import dev.lukko.testkit.ManualTime;
import dev.lukko.testkit.sim.Simulation;
import dev.lukko.testkit.sim.SimulationReport;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Code of the guide on testing, here to be compiled. */
class TestingSnippetsTest {

  void settingsUnderFaults() {
    // begin simulation
    SimulationReport report =
        Simulation.builder()
            .seed(42)
            .histories(20_000)
            .rateError(0.0045) // clocks, wrong by so much at most
            .settings(builder -> builder.driftFactor(0.02)) // what you are going to use
            .build()
            .run();

    report.throwIfFailed();
    System.out.println(report.describe());
    // end simulation
  }

  @Test
  void faultyNodes() {
    // begin faulty-nodes
    ManualTime time = new ManualTime();
    FaultyNode a = new FaultyNode(new InMemoryNode("a", time));
    FaultyNode b = new FaultyNode(new InMemoryNode("b", time));
    FaultyNode c = new FaultyNode(new InMemoryNode("c", time));
    try (Redlock locks =
        Redlock.builder().nodes(List.of(a, b, c)).ticker(time).scheduler(time).build()) {
      Lease lease = locks.acquire("report", Duration.ofSeconds(10));
      a.fault(FaultyNode.Fault.DOWN); // one of three: nothing changes
      b.fault(FaultyNode.Fault.LOSE_REPLIES); // two of three: extensions fail from now on
      time.advance(Duration.ofSeconds(10)); // no sleep: time moves when the test says so
      if (lease.isValid()) {
        throw new AssertionError("the lease outlived its ttl");
      }
    }
    // end faulty-nodes
  }
}
