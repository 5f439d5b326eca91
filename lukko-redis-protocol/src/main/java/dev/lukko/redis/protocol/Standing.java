package dev.lukko.redis.protocol;

import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.NodeStatus.State;
import dev.lukko.spi.NodeStatus.Trait;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

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
      return status(facts, State.VOTING, "", Duration.ZERO); // no key for a marker in every slot
    }
    String marker = survey.marker();
    return marker == null
        ? status(facts, State.UNREACHABLE, survey.markerTrouble(), Duration.ZERO)
        : ofMarker(facts, marker, survey.serverMillis());
  }

  /**
   * The status that follows from a marker.
   *
   * @param text the marker, empty if there is none
   * @param serverMillis the server's time
   */
  static NodeStatus ofMarker(ServerFacts facts, String text, long serverMillis) {
    Marker marker = Marker.read(text, facts.run(), serverMillis);
    String detail =
        switch (marker.state()) {
          case UNMARKED -> "it is new, or has forgotten everything; up since " + facts.startedAt();
          case RESTARTED -> "at " + facts.startedAt() + "; it may have forgotten the latest";
          case QUARANTINED ->
              marker.why().equals(Marker.RESTARTED)
                  ? "restarted at " + facts.startedAt()
                  : "it had forgotten everything; up since " + facts.startedAt();
          case VOTING, UNFIT, UNREACHABLE -> "";
        };
    return status(facts, marker.state(), detail, marker.remaining());
  }

  private static NodeStatus status(
      ServerFacts facts, State state, String detail, Duration remaining) {
    Set<Trait> traits = EnumSet.noneOf(Trait.class);
    if (facts.clusterMember()) {
      traits.add(Trait.CLUSTER_MEMBER);
    }
    if (facts.forgetful()) {
      traits.add(Trait.FORGETFUL);
    }
    return new NodeStatus(
        state, Optional.of(facts.run()), detail, remaining, facts.warnings(), traits);
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
     * one answered. One that has the known one's marker has its data, and counts as restarted.
     */
    boolean isAnotherServer(Survey survey) {
      ServerFacts facts = survey.facts();
      if (run.isEmpty() || run.equals(facts.run())) {
        return false;
      }
      long startedNanos =
          survey.atNanos() - TimeUnit.SECONDS.toNanos(facts.uptimeSeconds()) + UPTIME_ERROR_NANOS;
      String marker = survey.marker();
      return startedNanos - aliveNanos < 0 && (marker == null || !Marker.isOfRun(marker, run));
    }
  }
}
