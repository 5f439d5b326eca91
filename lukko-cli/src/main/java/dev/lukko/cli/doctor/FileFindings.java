package dev.lukko.cli.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * What may be wrong with the lock file of this machine. There is no server, user or password to
 * look at.
 */
final class FileFindings {

  private static final String BREAKS = "no lock can be taken on this machine without nodes";

  /** What SQLite needs for its log, and a little more. */
  private static final long LEAST_SPACE_BYTES = 1 << 20;

  private FileFindings() {}

  /** A file that does not answer. */
  static Finding unusable(Path file, String cause) {
    return hasSpace(file)
        ? Finding.error(
            "cannot be used: " + cause, BREAKS, remedy(file, cause.toLowerCase(Locale.ROOT)))
        : full(cause);
  }

  private static String remedy(Path file, String cause) {
    if (cause.contains("not a database")
        || cause.contains("malformed")
        || cause.contains("corrupt")) {
      return "move it away with its -wal and -shm: mv "
          + file
          + "* /tmp; the next lock makes a new one, and knows nothing of locks that are held now";
    }
    if (cause.contains("readonly") || cause.contains("denied") || cause.contains("permission")) {
      return "give this user the right to write to the file and to " + file.getParent();
    }
    return "see whether this user may write to the file and to "
        + file.getParent()
        + ", and whether that is on a local disk with space left";
  }

  /** A file that answers, and may not be fit to be written to. */
  static List<Finding> beforeWriting(Path file) {
    if (!hasSpace(file)) {
      return List.of(full("less than a megabyte is left"));
    }
    if (!Files.isWritable(file) || !Files.isWritable(file.getParent())) {
      return List.of(unusable(file, "permission to write is missing"));
    }
    return List.of();
  }

  /** True also where nobody tells. */
  private static boolean hasSpace(Path file) {
    try {
      return Files.getFileStore(file).getUsableSpace() >= LEAST_SPACE_BYTES;
    } catch (IOException untold) {
      return true;
    }
  }

  private static Finding full(String detail) {
    return Finding.error(
        "its disk is full: " + detail,
        BREAKS,
        "free space on its disk, or set XDG_STATE_HOME to a directory on another one");
  }
}
