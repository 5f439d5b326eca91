package dev.lukko.cli.doctor;

import static dev.lukko.cli.doctor.Finding.error;
import static dev.lukko.cli.doctor.Finding.warning;

import dev.lukko.spi.NodeStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What is wrong with a server, as far as it can be told from its own answers. Pure. */
final class RedisFindings {
  private static final long SLOW_NANOS = 50_000_000;
  private static final long OFFSET_MICROS = 1_000_000;
  private static final long MOVED_MICROS = 20_000;

  private final List<Finding> findings = new ArrayList<>();
  private final RedisAnswers answers;
  private final NodeStatus status;
  private final Duration maxTtl;

  private RedisFindings(RedisAnswers answers, NodeStatus status, Duration maxTtl) {
    this.answers = answers;
    this.status = status;
    this.maxTtl = maxTtl;
  }

  static List<Finding> of(RedisAnswers answers, NodeStatus status, Duration maxTtl) {
    RedisFindings all = new RedisFindings(answers, status, maxTtl);
    all.state();
    all.rights();
    all.memory();
    all.persistence();
    all.replication();
    all.timing();
    all.entries();
    return all.findings;
  }

  private void state() {
    switch (status.state()) {
      case UNFIT ->
          findings.add(
              error(
                  "can never vote: " + status.detail(),
                  "clients refuse to start with it",
                  "name a master of its own, by an address that always leads to it"));
      case UNREACHABLE ->
          findings.add(
              error(
                  "cannot serve as a node: " + status.detail(),
                  "it does not vote; every lock is decided by the other nodes",
                  "put right what the server says"));
      case QUARANTINED ->
          findings.add(
              warning(
                  "is " + status.describe(),
                  "it does not vote until then, since it may have forgotten locks",
                  status.remaining().compareTo(maxTtl.plusSeconds(2)) > 0
                      ? "this is longer than any quarantine: its clock was set back; set it right,"
                          + " or delete the key of the fleets, so that clients decide anew"
                      : "wait; to spare it the next time, let it persist with appendfsync always"));
      case UNMARKED, RESTARTED, CHANGED ->
          findings.add(
              warning(
                  "awaits admission: " + status.describe(),
                  "the first client lets it vote at once if most nodes are like this, else after"
                      + " a quarantine of the longest ttl",
                  "nothing, if it is new or was just restarted; else see who empties it"));
      case VOTING -> {}
    }
  }

  private void rights() {
    Rights rights = answers.rights();
    if (!rights.missing().isEmpty()) {
      findings.add(
          error(
              "its user "
                  + (rights.user().equals(Rights.UNTOLD) ? "" : rights.user() + " ")
                  + "may not use "
                  + String.join(", ", rights.missing()),
              rights.missing().equals(List.of("publish"))
                      || rights.missing().equals(List.of("subscribe"))
                  ? "nobody is woken by a release; waiters ask once a second"
                  : "locks fail with NOPERM, some of them or all",
              "give it the rights below"));
    }
    if (!rights.refused().isEmpty()) {
      findings.add(
          error(
              "refuses to write: " + rights.refused(),
              "it grants nothing",
              "put right what the server says"));
    }
  }

  private void memory() {
    String policy = answers.text("maxmemory_policy");
    long max = answers.number("maxmemory");
    if (!policy.equals("noeviction") && !policy.equals("?")) {
      String what = "its maxmemory-policy is " + policy;
      String remedy = "CONFIG SET maxmemory-policy noeviction, and in its configuration file";
      findings.add(
          max == 0
              ? warning(what, "as soon as maxmemory is set, it may drop held locks", remedy)
              : error(what, "when its memory is full, it drops held locks", remedy));
    }
    if (max > 0 && answers.number("used_memory") > max / 10 * 9) {
      findings.add(
          warning(
              "more than 90 % of its memory is used",
              "when it is full, it refuses new locks (OOM)",
              "raise maxmemory, or keep other data elsewhere"));
    }
    if (answers.number("evicted_keys") > 0) {
      findings.add(
          warning(
              "has evicted " + answers.number("evicted_keys") + " keys since it started",
              "locks may have been among them, and given away",
              "set noeviction, or keep locks on a server without other data"));
    }
  }

  private void persistence() {
    String fsync = answers.appendfsync();
    if (answers.appends() && (fsync == null || fsync.equals("always"))) {
      return;
    }
    findings.add(
        warning(
            answers.appends()
                ? "its appendfsync is " + fsync
                : "".equals(answers.save()) ? "persists nothing" : "has no append-only file",
            "a restart loses "
                + (!answers.appends() && "".equals(answers.save()) ? "all" : "the latest")
                + " locks, so that it does not vote for "
                + Spans.show(maxTtl.toMillis())
                + " after it; a single node votes at once, and may grant again what is held",
            "appendonly yes and appendfsync always, if that is too long"));
  }

  private void replication() {
    long replicas = answers.number("connected_slaves");
    if (replicas > 0 && "master".equals(answers.text("role"))) {
      findings.add(
          warning(
              "has " + replicas + (replicas == 1 ? " replica" : " replicas"),
              "one that is promoted lacks the latest locks; two may then hold the same lock",
              "no failover for a node of a quorum: the quorum is what bears failures"));
    }
    status
        .warnings()
        .forEach(
            known -> {
              if (known.contains("failover")) {
                findings.add(
                    warning(
                        known.substring(0, known.indexOf(':')),
                        known.substring(known.indexOf(':') + 2),
                        "several servers of their own as nodes, or a fence at the resource"));
              }
            });
  }

  private void timing() {
    Timing timing = answers.timing();
    if (timing.p99Nanos() > SLOW_NANOS) {
      findings.add(
          warning(
              "takes up to " + Timing.millis(timing.p99Nanos()) + " for a round trip",
              "a node has 5 % of the ttl to answer in; with short ttls it is too late",
              "ttls of at least " + Spans.show(timing.p99Nanos() * 40 / 1_000_000)));
    }
    if (Math.abs(timing.offsetMicros()) - timing.errorMicros() > OFFSET_MICROS) {
      findings.add(
          warning(
              "its clock is "
                  + Spans.show(Math.abs(timing.offsetMicros()) / 1_000)
                  + (timing.offsetMicros() < 0 ? " behind ours" : " ahead of ours"),
              "nothing while it runs evenly; when it is stepped, its locks end early or late",
              "let a time service slew the clocks of all machines, never step them"));
    }
    if (Math.abs(timing.movedMicros()) > MOVED_MICROS) {
      findings.add(
          warning(
              "its clock moved by "
                  + Spans.show(Math.abs(timing.movedMicros()) / 1_000)
                  + " against ours while it was looked at",
              "a clock that jumps ends locks early or late",
              "let a time service slew the clock, never step it"));
    }
  }

  private void entries() {
    Entries entries = answers.entries();
    if (!entries.tooLong().isEmpty()) {
      findings.add(
          warning(
              "has entries that live longer than anybody may ask for ("
                  + Spans.show(maxTtl.toMillis())
                  + "): "
                  + Entries.some(entries.tooLong()),
              "they stay held for up to " + Spans.show(entries.longestMillis()),
              "its clock was set back: see to it; or clients use a longer ttl: then give it as"
                  + " --max-ttl here, and to all clients"));
    }
    if (!entries.endless().isEmpty()) {
      findings.add(
          warning(
              "has entries that never end: " + Entries.some(entries.endless()),
              "nobody gets these locks until they are deleted",
              "delete them when no holder is alive; Lukko never makes such entries"));
    }
  }
}
