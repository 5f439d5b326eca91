package dev.lukko.bench.soak;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** The output of a client process. Thread-safe. */
record Teller(PrintStream out) {

  /** In one write, so that no line is torn. */
  void say(Said word, Object... details) {
    byte[] line = word.line(details).getBytes(StandardCharsets.UTF_8);
    synchronized (out) {
      out.write(line, 0, line.length);
      out.flush();
    }
  }
}
