package dev.lukko.cli.wrapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A lock file that is not well: it has no server, user or password that one could look at. */
@EnabledOnOs(OS.LINUX)
class DoctorOfTheFileTest {

  @TempDir Path directory;

  @Test
  void aFileThatIsNoDatabaseIsToBeMovedAway() throws Exception {
    Path file = directory.resolve("state").resolve("lukko").resolve("locks.db");
    Files.createDirectories(file.getParent());
    Files.writeString(file, "no database".repeat(100));

    try (Script script = Script.start(directory, "\"$LUKKO\" doctor")) {
      assertThat(script.exitCode()).isEqualTo(1);
      assertThat(script.out())
          .contains("not a database", "no lock can be taken on this machine", "mv " + file + "*")
          .doesNotContain("password", "server runs");
    }
  }

  @Test
  void aFullDiskIsFound() throws Exception {
    String mount = "unshare --mount sh -c 'mount -t tmpfs -o size=%s tmpfs /mnt && %s'";
    assumeTrue(
        new ProcessBuilder("sh", "-c", mount.formatted("64k", "true")).start().waitFor() == 0,
        "no file systems can be mounted here");
    String text =
        "XDG_STATE_HOME=/mnt; export XDG_STATE_HOME; \"$LUKKO\" run r -- true && \"$LUKKO\" doctor >/dev/null && echo well;"
            + " cat /dev/zero >/mnt/fill; \"$LUKKO\" doctor";

    try (Script script = Script.start(directory, mount.formatted("8m", text))) {
      assertThat(script.exitCode()).isEqualTo(1);
      assertThat(script.out())
          .startsWith("well\n")
          .contains("its disk is full: ", "free space on its disk")
          .doesNotContain("password");
    }
  }
}
