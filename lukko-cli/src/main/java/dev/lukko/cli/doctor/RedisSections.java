package dev.lukko.cli.doctor;

import dev.lukko.cli.doctor.NodeReport.Section;
import dev.lukko.spi.NodeStatus;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a server has told, subject by subject. */
final class RedisSections {
  private RedisSections() {}

  static List<Section> of(RedisAnswers answers, NodeStatus status) {
    List<Section> sections = new ArrayList<>();
    sections.add(state(status));
    sections.add(latency(answers.timing()));
    sections.add(
        section(
            "server",
            answers.product()
                + ", "
                + answers.text("role").replace("slave", "replica")
                + ", up for "
                + Spans.show(answers.number("uptime_in_seconds") * 1_000)
                + ", run "
                + answers.text("run_id"),
            "product",
            answers.product(),
            "role",
            answers.text("role").replace("slave", "replica"),
            "uptimeSeconds",
            answers.number("uptime_in_seconds"),
            "run",
            answers.text("run_id"),
            "replicas",
            answers.number("connected_slaves")));
    long max = answers.number("maxmemory");
    sections.add(
        section(
            "memory",
            answers.text("maxmemory_policy")
                + ", "
                + Spans.bytes(answers.number("used_memory"))
                + (max == 0 ? " used, no limit" : " of " + Spans.bytes(max) + " used"),
            "policy",
            answers.text("maxmemory_policy"),
            "usedBytes",
            answers.number("used_memory"),
            "maxBytes",
            max == 0 ? null : max));
    sections.add(persistence(answers));
    sections.add(clock(answers.timing()));
    sections.add(entries(answers.entries()));
    Rights rights = answers.rights();
    sections.add(
        section(
            "user",
            rights.user()
                + (rights.missing().isEmpty()
                    ? ""
                    : ", lacks " + String.join(", ", rights.missing())),
            "name",
            rights.user(),
            "missing",
            rights.missing()));
    return sections;
  }

  static Section state(NodeStatus status) {
    return section(
        "state",
        status.describe(),
        "name",
        status.state().name().toLowerCase(Locale.ROOT),
        "detail",
        status.detail(),
        "remainingMillis",
        status.remaining().isZero() ? null : status.remaining().toMillis());
  }

  private static Section latency(Timing timing) {
    return section(
        "latency",
        "p50 "
            + Timing.millis(timing.p50Nanos())
            + ", p99 "
            + Timing.millis(timing.p99Nanos())
            + " ("
            + timing.count()
            + " round trips)",
        "p50Micros",
        timing.p50Nanos() / 1_000,
        "p99Micros",
        timing.p99Nanos() / 1_000,
        "trips",
        timing.count());
  }

  private static Section persistence(RedisAnswers answers) {
    String snapshots = answers.save() == null ? "not told" : answers.save();
    String fsync = answers.appendfsync() == null ? "not told" : answers.appendfsync();
    return section(
        "persistence",
        (answers.appends() ? "append-only file, appendfsync " + fsync : "no append-only file")
            + (snapshots.isBlank() ? ", no snapshots" : ", snapshots " + snapshots),
        "appendOnly",
        answers.appends(),
        "appendfsync",
        answers.appendfsync(),
        "save",
        answers.save());
  }

  private static Section clock(Timing timing) {
    long offset = timing.offsetMicros();
    return section(
        "clock",
        Timing.millis(Math.abs(offset) * 1_000)
            + (offset < 0 ? " behind" : " ahead of")
            + " ours (give or take "
            + Timing.millis(timing.errorMicros() * 1_000)
            + "), moved by "
            + Timing.millis(Math.abs(timing.movedMicros()) * 1_000)
            + " meanwhile",
        "offsetMicros",
        offset,
        "errorMicros",
        timing.errorMicros(),
        "movedMicros",
        timing.movedMicros());
  }

  private static Section entries(Entries entries) {
    return section(
        "entries",
        entries.trouble().isEmpty()
            ? entries.locks()
                + " held, "
                + entries.counters()
                + " counters"
                + (entries.complete() ? "" : " in the part that was looked through")
            : "not looked through: " + entries.trouble(),
        "locks",
        entries.locks(),
        "counters",
        entries.counters(),
        "complete",
        entries.complete(),
        "longestMillis",
        entries.longestMillis());
  }

  static Section section(String title, String text, @Nullable Object... namesAndValues) {
    Map<String, @Nullable Object> values = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      values.put(String.valueOf(namesAndValues[i]), namesAndValues[i + 1]);
    }
    return new Section(title, text, values);
  }
}
