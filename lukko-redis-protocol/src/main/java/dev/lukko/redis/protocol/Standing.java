package dev.lukko.redis.protocol;

import dev.lukko.spi.FleetMemory;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NodeStatus.State;
import dev.lukko.spi.NodeStatus.Trait;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Judges from a {@link Survey} whether a server may vote. Pure. */
final class Standing {
  /** A server counts its uptime in whole seconds, and may tell almost one too many. */
  private static final long UPTIME_ERROR_NANOS = TimeUnit.SECONDS.toNanos(1);

  private Standing() {}

  /** The status that follows from a survey, with what was known of the address before. */
  static NodeStatus of(Survey survey, Known known) {
    ServerFacts facts = survey.facts();
    if (!facts.unfit().isEmpty()) {
      return status(facts, State.UNFIT, facts.unfit(), Duration.ZERO);
    }
    if (known.isAnotherServer(survey)) {
      return status(
          facts,
          State.UNFIT,
          "another server answers at this address: it was up already while the one that is known"
              + " was (run "
              + facts.run()
              + " for "
              + known.run()
              + "); a proxy or a load balancer must lead to one server only",
          Duration.ZERO);
    }
    if (facts.clusterMember()) {
      return status(facts, State.VOTING, "", Duration.ZERO); // no key for records in every slot
    }
    SortedMap<String, String> records = survey.records();
    return records == null
        ? status(facts, State.UNREACHABLE, survey.trouble(), Duration.ZERO)
        : NodeStatus.remembering(
            facts.run(),
            facts.warnings(),
            traits(facts),
            memory(facts, records, survey.serverMillis()));
  }

  /**
   * The status that follows from the record that a script has found, which was not what its client
   * has seen, or names a later time.
   *
   * @param key the key of the record
   * @param seen what the client has seen of it
   * @param text the record, empty if there is none
   * @param serverMillis the server's time
   */
  static NodeStatus ofRecord(
      ServerFacts facts, String key, String seen, String text, long serverMillis) {
    SortedMap<String, String> records = new TreeMap<>();
    if (!text.isEmpty()) {
      records.put(key, text);
    }
    NodeStatus status =
        NodeStatus.remembering(
                facts.run(), facts.warnings(), traits(facts), memory(facts, records, serverMillis))
            .in(key);
    return status.asRefusal(text.startsWith(seen + " "));
  }

  private static FleetMemory memory(
      ServerFacts facts, SortedMap<String, String> records, long serverMillis) {
    return new FleetMemory(
        FleetRecord.idOf(facts.run()), records, serverMillis, facts.startedAt().toString());
  }

  private static NodeStatus status(
      ServerFacts facts, State state, String detail, Duration remaining) {
    return new NodeStatus(
        state, Optional.of(facts.run()), detail, remaining, facts.warnings(), traits(facts));
  }

  private static Set<Trait> traits(ServerFacts facts) {
    Set<Trait> traits = EnumSet.noneOf(Trait.class);
    if (facts.clusterMember()) {
      traits.add(Trait.CLUSTER_MEMBER);
    }
    if (facts.forgetful()) {
      traits.add(Trait.FORGETFUL);
    }
    return traits;
  }

  /**
   * The server that was last connected at an address.
   *
   * @param run its run, empty if there was none yet
   * @param aliveNanos when it last answered, on this process's monotonic clock
   */
  record Known(String run, long aliveNanos) {
    static final Known NOBODY = new Known("", 0);

    /**
     * Whether a server with another run is not the known one after a restart: it was up while that
     * one answered. One that has the known one's record has its data, and counts as restarted.
     */
    boolean isAnotherServer(Survey survey) {
      ServerFacts facts = survey.facts();
      if (run.isEmpty() || run.equals(facts.run())) {
        return false;
      }
      long startedNanos =
          survey.atNanos() - TimeUnit.SECONDS.toNanos(facts.uptimeSeconds()) + UPTIME_ERROR_NANOS;
      return startedNanos - aliveNanos < 0 && !hasDataOf(survey.records());
    }

    private boolean hasDataOf(@Nullable SortedMap<String, String> records) {
      String former = FleetRecord.idOf(run);
      return records != null
          && records.values().stream()
              .flatMap(text -> FleetRecord.parse(text).stream())
              .anyMatch(record -> record.run().equals(former));
    }
  }
}
