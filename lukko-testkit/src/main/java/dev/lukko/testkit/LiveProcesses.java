package dev.lukko.testkit;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The processes that this JVM started and that must not outlive it. */
final class LiveProcesses {

  private static final Set<ProcessHandle> LIVE = ConcurrentHashMap.newKeySet();

  static {
    // SIGKILL also ends a process that is stopped by SIGSTOP; a plain SIGTERM would stay pending.
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> LIVE.forEach(ProcessHandle::destroyForcibly), "lukko-testkit-shutdown"));
  }

  private LiveProcesses() {}

  /** Makes the process end with this JVM at the latest. */
  static void add(ProcessHandle process) {
    LIVE.add(process);
    var unused = process.onExit().thenAccept(LIVE::remove);
  }
}
