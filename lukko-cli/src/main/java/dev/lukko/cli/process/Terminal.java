package dev.lukko.cli.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Questions about the terminal that Java does not answer, or not in every version. */
public final class Terminal {

  /** The number of standard output. */
  public static final int OUTPUT = 1;

  /** The number of standard error. */
  public static final int ERROR = 2;

  private static final long ANSWER_TIMEOUT_MILLIS = 2_000;

  private Terminal() {}

  /**
   * Says whether a standard stream of this process is a terminal.
   *
   * @param stream {@link #OUTPUT} or {@link #ERROR}
   */
  public static boolean is(int stream) {
    try {
      Process test = new ProcessBuilder("sh", "-c", "test -t " + stream).inheritIO().start();
      return endsInTime(test) && test.exitValue() == 0;
    } catch (IOException noShell) {
      return false;
    }
  }

  /**
   * Says whether this process belongs to the foreground of a terminal. Its Ctrl-C then goes to all
   * processes of the group, so that a child has it already and must not get it a second time.
   */
  public static boolean hasForeground() {
    List<String> ids = groupIds();
    return ids.size() == 2 && ids.get(0).equals(ids.get(1));
  }

  /** The own process group, and the foreground group of the terminal; empty if unknown. */
  private static List<String> groupIds() {
    try {
      String stat = Files.readString(Path.of("/proc/self/stat"));
      // After the name in parentheses: state, parent, group, session, terminal, foreground group.
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", 7);
      return List.of(fields[2], fields[5]);
    } catch (IOException noProc) {
      return groupIdsByPs();
    }
  }

  private static List<String> groupIdsByPs() {
    try {
      Process ps =
          new ProcessBuilder(
                  "ps", "-o", "pgid=,tpgid=", "-p", Long.toString(ProcessHandle.current().pid()))
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      if (!endsInTime(ps) || ps.exitValue() != 0) {
        return List.of();
      }
      String line = new String(ps.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      return List.of(line.strip().split("\\s+", -1));
    } catch (IOException noPs) {
      return List.of();
    }
  }

  private static boolean endsInTime(Process process) {
    try {
      if (process.waitFor(ANSWER_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS)) {
        return true;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.destroyForcibly();
    return false;
  }
}
