package dev.lukko.testkit.contract;

import java.util.Set;
import java.util.stream.Collectors;

/** The live threads of this process. */
final class Threads {
  private static final Set<String> OF_PLATFORM =
      Set.of("Common-Cleaner", "process reaper", "Attach Listener", "Signal Dispatcher");

  private Threads() {}

  static Set<Thread> all() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(Thread::isAlive)
        .collect(Collectors.toSet());
  }

  /** Whether the Java platform has made a thread by itself, for all the code of the process. */
  static boolean isOfPlatform(Thread thread) {
    ThreadGroup group = thread.getThreadGroup();
    return OF_PLATFORM.contains(thread.getName())
        || thread.getName().startsWith("ForkJoinPool.commonPool-")
        || thread.getName().startsWith("process reaper")
        || (group != null && group.getName().equals("InnocuousThreadGroup"));
  }
}
