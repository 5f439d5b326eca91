package dev.lukko.testkit.sim;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What happened, as a hash that two runs of one seed must share, and as text on demand. */
final class EventLog {
  private static final int KEPT_LINES = 2_000;

  private final @Nullable List<String> lines;
  private long hash = 0x4C756B6B6FL;

  EventLog(boolean tracing) {
    lines = tracing ? new ArrayList<>() : null;
  }

  void add(long now, Hook hook, int client, int node, int acquisition, long value) {
    long h = hash;
    h = (h ^ now) * 0x9E3779B97F4A7C15L;
    h =
        (h ^ (h >>> 29) ^ (hook.name().hashCode() << 16 | client << 8 | node))
            * 0xBF58476D1CE4E5B9L;
    hash = (h ^ (h >>> 32) ^ value ^ ((long) acquisition << 54)) * 0x94D049BB133111EBL;
    if (lines != null) {
      line(
          now,
          hook
              + (client < 0 ? "" : " client " + client)
              + (node < 0 ? "" : " node " + node)
              + (acquisition == 0 ? "" : " #" + acquisition)
              + (value == 0 ? "" : " " + value));
    }
  }

  boolean isTracing() {
    return lines != null;
  }

  void line(long now, String text) {
    if (lines != null && lines.size() < KEPT_LINES) {
      lines.add(String.format("%10.3f ms  %s", now / 1e6, text));
    }
  }

  long hash() {
    return Dice.mix(hash);
  }

  List<String> lines() {
    return lines == null ? List.of() : List.copyOf(lines);
  }
}
