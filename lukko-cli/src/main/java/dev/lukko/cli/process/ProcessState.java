package dev.lukko.cli.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the kernel says of a process or a thread, where it has a {@code /proc}. */
final class ProcessState {

  private ProcessState() {}

  /** Says whether a process has ended and only waits to be seen off; false where nobody tells. */
  static boolean isZombie(long pid) {
    try {
      return of(Path.of("/proc", Long.toString(pid))) == 'Z';
    } catch (IOException endedOrNoProc) {
      return false;
    }
  }

  /** The letter of the state, from the folder of a process or a thread. */
  static char of(Path folder) throws IOException {
    String stat = Files.readString(folder.resolve("stat"), StandardCharsets.ISO_8859_1);
    return stat.charAt(stat.lastIndexOf(')') + 2);
  }
}
