package dev.lukko.cli;

import dev.lukko.spi.FleetMemory;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Shows the fleets that nodes serve, as their records tell. */
@Command(
    name = "show",
    header = "Shows the fleets that the nodes serve.",
    description = {
      "",
      "Asks every node for its records, changes nothing, and shows which fleets there are, who"
          + " belongs to them, and whether a change of the set is under way.",
      ""
    },
    sortOptions = false,
    mixinStandardHelpOptions = true,
    versionProvider = Lukko.Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:each node was asked",
      "64:the command line is wrong; nothing was done",
      "69:a node could not be reached"
    })
final class FleetShowCommand implements Callable<Integer> {
  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  private final Surroundings surroundings;

  @Mixin private NodeOptions options;

  FleetShowCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    List<LockNode> nodes = options.named(surroundings).open();
    try {
      return show(nodes);
    } finally {
      nodes.forEach(LockNode::close);
    }
  }

  private int show(List<LockNode> nodes) {
    PrintWriter out = surroundings.out();
    Map<String, NodeStatus> statuses = new LinkedHashMap<>();
    List<CompletableFuture<NodeStatus>> asked = new ArrayList<>();
    for (LockNode node : nodes) { // All have the same time: those that hang do not add up.
      asked.add(
          node.status()
              .toCompletableFuture()
              .copy()
              .completeOnTimeout(
                  NodeStatus.unreachable("no answer within " + Durations.show(TIMEOUT)),
                  TIMEOUT.toMillis(),
                  TimeUnit.MILLISECONDS));
    }
    for (int i = 0; i < nodes.size(); i++) {
      statuses.put(nodes.get(i).name(), await(asked.get(i)));
    }
    Map<String, List<FleetRecord>> fleets = new TreeMap<>();
    statuses
        .values()
        .forEach(
            status -> {
              FleetMemory memory = status.memory();
              if (memory != null) {
                memory
                    .records()
                    .forEach(
                        record ->
                            fleets
                                .computeIfAbsent(record.key(), key -> new ArrayList<>())
                                .add(record));
              }
            });
    fleets.forEach((key, records) -> print(out, key, records, statuses));
    boolean all = true;
    for (Map.Entry<String, NodeStatus> node : statuses.entrySet()) {
      if (node.getValue().memory() == null) {
        boolean reached = node.getValue().identity().isPresent();
        all &= reached;
        out.println(
            node.getKey() + "  " + (reached ? "keeps no records" : node.getValue().describe()));
      }
    }
    if (fleets.isEmpty()) {
      out.println("no fleet: none of the nodes has a record");
    }
    return all ? ExitCode.OK : ExitCode.UNAVAILABLE;
  }

  private static void print(
      PrintWriter out, String key, List<FleetRecord> records, Map<String, NodeStatus> statuses) {
    FleetRecord latest = records.get(0);
    for (FleetRecord record : records) {
      latest = record.epoch() > latest.epoch() ? record : latest;
    }
    out.println(
        latest.describe()
            + ", epoch "
            + latest.epoch()
            + (latest.floor() == 0 ? "" : ", tokens above " + latest.floor()));
    Set<String> missing = new TreeSet<>(latest.members());
    if (latest.next() != null) {
      missing.addAll(latest.next().ids());
    }
    for (Map.Entry<String, NodeStatus> node : statuses.entrySet()) {
      FleetMemory memory = node.getValue().memory();
      FleetRecord record = memory == null ? null : memory.record(key).orElse(null);
      if (record != null) {
        missing.remove(record.self());
        out.println(
            "  "
                + record.self()
                + "  "
                + node.getKey()
                + "  "
                + role(latest, record)
                + node.getValue().in(key).describe());
      }
    }
    missing.forEach(id -> out.println("  " + id + "  at none of these addresses"));
  }

  private static String role(FleetRecord latest, FleetRecord record) {
    String behind = record.epoch() < latest.epoch() ? "at epoch " + record.epoch() + ", " : "";
    if (!latest.has(record.self())) {
      return behind + "no member any more, ";
    }
    if (latest.next() == null) {
      return behind;
    }
    boolean stays = latest.set().contains(record.self());
    boolean comes = latest.next().contains(record.self());
    return behind + (stays && comes ? "stays, " : stays ? "goes, " : "comes, ");
  }

  private static NodeStatus await(CompletableFuture<NodeStatus> asked) {
    try {
      return asked.get();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return NodeStatus.unreachable("interrupted");
    } catch (ExecutionException failed) {
      return NodeStatus.unreachable(String.valueOf(failed.getCause()));
    }
  }
}
