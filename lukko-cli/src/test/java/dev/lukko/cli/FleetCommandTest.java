package dev.lukko.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.LockRequest;
import dev.lukko.redis.RedisNode;
import dev.lukko.redlock.MembershipChange;
import dev.lukko.redlock.Redlock;
import dev.lukko.testkit.RedisServers;
import dev.lukko.time.Scheduler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The commands of the page of fleets, as they are written there. */
class FleetCommandTest {
  private static final Path PAGE =
      Path.of("").toAbsolutePath().getParent().resolve("docs/operating/fleets.md");
  private static final LockRequest BRIEF =
      LockRequest.builder("job")
          .ttl(Duration.ofMillis(200))
          .maxWait(Duration.ofSeconds(30))
          .build();

  private RedisServers servers;

  @BeforeEach
  void start() {
    servers = RedisServers.start(5);
  }

  @AfterEach
  void stop() {
    servers.close();
  }

  private Redlock client(int nodes) {
    return Redlock.builder()
        .nodes(RedisNode.builder().connectAll(servers.urls().subList(0, nodes)))
        .maxTtl(Duration.ofMillis(200))
        .build();
  }

  /** The page's commands, with these servers' addresses and a ttl of this test's clients. */
  private List<String[]> commands() throws IOException {
    List<String[]> commands = new ArrayList<>();
    String text = Files.readString(PAGE).replace("\\\n", "");
    for (String line : text.split("\n", -1)) {
      if (line.startsWith("    lukko fleet ")) {
        String command = line.strip().replace("5m", "200ms");
        for (int i = 0; i < 5; i++) {
          command =
              command.replaceAll("redis://" + (char) ('a' + i) + "\\b", servers.urls().get(i));
        }
        commands.add(command.substring("lukko ".length()).split(" +", -1));
      }
    }
    return commands;
  }

  @Test
  void commandsOfThePageAddReplaceAndRemoveNodesWhileALockIsInUse() throws IOException {
    List<String[]> commands = commands();
    assertThat(commands).hasSize(4);
    client(3).close(); // makes the fleet
    long token = 0;
    for (String[] command : commands) {
      Invocation done = Invocation.of(command);
      assertThat(done.exitCode()).as(String.join(" ", command) + done.err()).isZero();
      try (Redlock locks = client(5)) {
        long next = locks.acquire(BRIEF).fencingToken();
        assertThat(next).isGreaterThan(token);
        token = next;
      }
    }
    Invocation show =
        Invocation.of(
            "fleet", "show", "--node", servers.urls().get(0), "--node", servers.urls().get(1));
    assertThat(show.out()).contains("tokens above ").contains("voting");
  }

  @Test
  void showTellsTheMembersAndTheAddresses() {
    Invocation none = Invocation.of("fleet", "show", "--node", servers.urls().get(0));
    assertThat(none.exitCode()).isZero();
    assertThat(none.out()).contains("no fleet");
    client(3).close();
    Invocation two =
        Invocation.of(
            "fleet", "show", "--node", servers.urls().get(0), "--node", servers.urls().get(1));
    assertThat(two.out())
        .contains("of 3 nodes, epoch 0")
        .contains("127.0.0.1:" + servers.get(0).port())
        .contains("at none of these addresses");
    servers.get(2).kill();
    Invocation down = Invocation.of("fleet", "show", "--node", servers.urls().get(2));
    assertThat(down.exitCode()).isEqualTo(69);
  }

  @Test
  void whatCannotBeDoneIsSaid() {
    String node = servers.urls().get(0);
    assertThat(Invocation.of("fleet").exitCode()).isEqualTo(64);
    assertThat(Invocation.of("fleet", "show").exitCode()).isEqualTo(64);
    assertThat(Invocation.of("fleet", "change", "--node", node).exitCode()).isEqualTo(64);
    Invocation twice = Invocation.of("fleet", "change", "--node", node, "--to", node, "--to", node);
    assertThat(twice.exitCode()).isEqualTo(64);
    assertThat(twice.err()).contains("to has ").contains("twice");
    client(3).close();
    servers.get(3).kill();
    Invocation unreachable =
        Invocation.of(
            "fleet",
            "change",
            "--node",
            node,
            "--node",
            servers.urls().get(1),
            "--to",
            node,
            "--to",
            servers.urls().get(3));
    assertThat(unreachable.exitCode()).isEqualTo(69);
    assertThat(unreachable.err()).contains("cannot be reached");
  }

  @Test
  void changeThatStoppedHalfWayIsToldByDoctorAndGoneOnWith() {
    client(3).close();
    List<RedisNode> nodes = RedisNode.builder().connectAll(servers.urls());
    CompletableFuture<Void> halfWay = new CompletableFuture<>();
    try (Scheduler timers = Scheduler.create("change")) {
      CompletableFuture<MembershipChange.Result> stopped =
          MembershipChange.builder()
              .nodes(nodes.subList(0, 3))
              .to(nodes)
              .maxTtl(Duration.ofMinutes(5))
              .scheduler(timers)
              .progress(
                  line -> {
                    if (line.startsWith("both sets decide")) {
                      halfWay.complete(null);
                    }
                  })
              .build()
              .start();
      halfWay.orTimeout(30, TimeUnit.SECONDS).join();
      stopped.cancel(false);
    } finally {
      nodes.forEach(RedisNode::close);
    }

    assertThat(ofAll("doctor").out())
        .contains("is in the middle of a change of the nodes of fleet #")
        .contains("run lukko fleet change again");
    assertThat(ofAll("fleet", "show").out()).contains("comes, ").contains("stays, ");
    List<String> again = new ArrayList<>(List.of("fleet", "change", "--max-ttl", "200ms"));
    for (int i = 0; i < 5; i++) {
      again.addAll(List.of(i < 3 ? "--node" : "--to", servers.urls().get(i)));
    }
    servers.urls().subList(0, 3).forEach(url -> again.addAll(List.of("--to", url)));
    assertThat(Invocation.of(again.toArray(new String[0])).exitCode()).isZero();
    assertThat(ofAll("doctor").out()).doesNotContain("in the middle of a change");
  }

  private Invocation ofAll(String... command) {
    List<String> words = new ArrayList<>(List.of(command));
    servers.urls().forEach(url -> words.addAll(List.of("--node", url)));
    return Invocation.of(words.toArray(new String[0]));
  }
}
