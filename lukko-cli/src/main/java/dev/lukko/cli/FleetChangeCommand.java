package dev.lukko.cli;

import dev.lukko.LockException;
import dev.lukko.redlock.MembershipChange;
import dev.lukko.redlock.MembershipChangeBuilder;
import dev.lukko.spi.LockNode;
import dev.lukko.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Changes the set of a fleet's nodes while its locks are in use. */
@Command(
    name = "change",
    header = "Changes the set of a fleet's nodes while its locks are in use.",
    description = {
      "",
      "Adds, removes or replaces nodes without a moment in which two hold one lock. Waits for the"
          + " longest ttl. If it is stopped, run it again with the same nodes: it goes on. There is"
          + " no way back but another change.",
      ""
    },
    sortOptions = false,
    mixinStandardHelpOptions = true,
    versionProvider = Lukko.Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:the fleet has these nodes",
      "64:the command line is wrong; nothing was done",
      "69:it cannot be done now, as it says; what was begun goes on with the next run"
    },
    footer = {
      "",
      "Example:",
      "  lukko fleet change --node redis://a --node redis://b --node redis://c \\",
      "      --to redis://a --to redis://b --to redis://d"
    })
final class FleetChangeCommand implements Callable<Integer> {
  private final Surroundings surroundings;

  @Mixin private NodeOptions options;

  @Option(
      names = "--to",
      paramLabel = "URL",
      required = true,
      description = "A node that the fleet shall have. Give it once for each of them.")
  private List<String> next = List.of();

  @Option(
      names = "--fleet",
      paramLabel = "NAME",
      description = "The name of the fleet, if the nodes belong to several.")
  private @Nullable String fleet;

  @Option(
      names = "--max-ttl",
      paramLabel = "DURATION",
      defaultValue = "5m",
      description = "The longest ttl that any client of these nodes asks for. Default: 5m.")
  private Duration maxTtl = Duration.ZERO;

  FleetChangeCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    NamedNodes present = options.named(surroundings);
    List<NodeAddress> addresses = new ArrayList<>(present.addresses());
    Map<String, Integer> byServer = new HashMap<>();
    addresses.forEach(address -> byServer.put(address.server(), byServer.size()));
    List<Integer> wanted = new ArrayList<>();
    for (String url : next) {
      NodeAddress address = NodeAddress.parse(url);
      Integer known = byServer.putIfAbsent(address.server(), addresses.size());
      if (known == null) {
        addresses.add(address);
      }
      wanted.add(known == null ? addresses.size() - 1 : known);
    }
    MembershipChangeBuilder change = MembershipChange.builder();
    List<LockNode> nodes = new NamedNodes(addresses, present.keyFormat(), present.access()).open();
    try (Scheduler timers = Scheduler.create("lukko-fleet")) {
      change
          .nodes(nodes.subList(0, present.addresses().size()))
          .to(wanted.stream().map(nodes::get).toList())
          .maxTtl(maxTtl)
          .scheduler(timers)
          .progress(this::tell);
      if (fleet != null) {
        change.fleet(fleet);
      }
      MembershipChange.Result result = change.build().run();
      tell(
          "fleet "
              + result.fleet()
              + (result.changed() ? " has these " : " has these already: ")
              + result.members().size()
              + (result.members().size() == 1 ? " node" : " nodes"));
      return ExitCode.OK;
    } catch (IllegalArgumentException wrong) {
      throw new UsageException(String.valueOf(wrong.getMessage()));
    } catch (LockException refused) {
      surroundings.say(String.valueOf(refused.getMessage()));
      return ExitCode.UNAVAILABLE;
    } finally {
      nodes.forEach(LockNode::close);
    }
  }

  private void tell(String line) {
    surroundings.out().println(line);
    surroundings.out().flush();
  }
}
