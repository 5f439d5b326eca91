package dev.lukko.cli.doctor;

import java.util.Locale;

/** Times and sizes for people. */
final class Spans {
  private Spans() {}

  static String show(long millis) {
    if (millis < 1_000) {
      return millis + " ms";
    }
    long seconds = millis / 1_000;
    if (seconds < 60) {
      return seconds + " s";
    }
    if (seconds < 3_600) {
      return seconds / 60 + " min " + seconds % 60 + " s";
    }
    return seconds < 86_400
        ? seconds / 3_600 + " h " + seconds % 3_600 / 60 + " min"
        : seconds / 86_400 + " d " + seconds % 86_400 / 3_600 + " h";
  }

  static String bytes(long bytes) {
    return bytes < 1 << 20
        ? bytes / 1_024 + " kB"
        : String.format(Locale.ROOT, "%.1f MB", bytes / 1_048_576.0);
  }
}
