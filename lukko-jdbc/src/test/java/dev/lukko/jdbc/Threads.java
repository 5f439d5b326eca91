package dev.lukko.jdbc;

import java.util.List;

/** The live threads of this JVM. */
final class Threads {
  private Threads() {}

  /** The names of all threads that nodes have made and not ended. */
  static List<String> ofNodes() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("lukko-jdbc-"))
        .sorted()
        .toList();
  }
}
