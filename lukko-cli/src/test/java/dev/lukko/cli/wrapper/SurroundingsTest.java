package dev.lukko.cli.wrapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Where the command is started, with what is around it there. */
@EnabledOnOs(OS.LINUX)
class SurroundingsTest {

  @TempDir Path directory;

  @Test
  void variablesOfTheApplicationAreForTheCommandAlone() throws Exception {
    Map<String, String> environment =
        Map.of(
            "JAVA_TOOL_OPTIONS", "-agentlib:jdwp=nonsense",
            "JDK_JAVA_OPTIONS", "--no-such-option",
            "_JAVA_OPTIONS", "-Xmx1",
            "CDPATH", "/:/tmp",
            "TMPDIR", "/nowhere",
            "LC_ALL", "de_XX.UTF-8");
    String text =
        "cd ${LUKKO%/*}; sh lukko run nightly -- sh -c 'for v in \"$JAVA_TOOL_OPTIONS\" \"$JDK_JAVA_OPTIONS\""
            + " \"$_JAVA_OPTIONS\" \"$CDPATH\" \"$TMPDIR\" \"$LC_ALL\"; do printf \"%s\\n\" \"$v\"; done'"
            + " && ./lukko status nightly | grep -c answered";

    try (Script script = Script.start(directory, environment, text)) {
      assertThat(script.exitCode()).as(script.err()).isZero();
      assertThat(script.out())
          .isEqualTo(
              "-agentlib:jdwp=nonsense\n--no-such-option\n-Xmx1\n/:/tmp\n/nowhere\nde_XX.UTF-8\n1\n");
      assertThat(script.err()).isEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("dev.lukko.cli.wrapper.Wrapper#both")
  void aDeletedWorkingFolderDoesNoHarm(Wrapper wrapper) throws Exception {
    String text =
        "mkdir $DIR/gone; cd $DIR/gone; rmdir $DIR/gone; " + wrapper.words() + " echo done";

    try (Script script = Script.start(directory, text)) {
      assertThat(script.exitCode()).as(script.err()).isZero();
      assertThat(script.out()).isEqualTo("done\n");
    }
  }

  @Test
  void aGigabyteOfAddressesIsEnough() throws Exception {
    try (Script script =
        Script.start(directory, "ulimit -v 1000000; " + Wrapper.LUKKO_SH.words() + " echo done")) {
      assertThat(script.exitCode()).as(script.err()).isZero();
      assertThat(script.out()).isEqualTo("done\n");
      assertThat(script.err()).isEmpty();
    }
  }

  @Test
  void aJavaThatDoesNotStartIsAnErrorOfLukko() throws Exception {
    try (Script script =
        Script.start(directory, "ulimit -v 100000; " + Wrapper.LUKKO_SH.words() + " echo done")) {
      assertThat(script.exitCode()).isEqualTo(70);
      assertThat(script.out()).isEmpty();
      assertThat(script.err()).contains("lukko: its Java did not start");
    }
  }

  @Test
  void aTinyTemporaryFolderWithoutExecutionIsEnoughAndNothingIsLeftInIt() throws Exception {
    String mounts =
        "mount -t tmpfs tmpfs /mnt && mkdir /mnt/lukko && mount --bind ${LUKKO%/*} /mnt/lukko"
            + " && mount -t tmpfs -o noexec,size=16k tmpfs /tmp";
    assumeTrue(
        new ProcessBuilder("unshare", "--mount", "sh", "-c", "mount -t tmpfs tmpfs /mnt")
                .start()
                .waitFor()
            == 0,
        "no file systems can be mounted here");
    String text =
        mounts
            + " && export XDG_STATE_HOME=/mnt && unset TMPDIR && /mnt/lukko/lukko run a -- echo done"
            + " && /mnt/lukko/lukko run b -- sh -c \"kill -KILL \\$PPID\";"
            + " /mnt/lukko/lukko run --wait 50s b -- ls -A /tmp";

    try (Script script = Script.start(directory, "unshare --mount sh -c '" + text + "'")) {
      assertThat(script.exitCode()).as(script.err()).isZero();
      assertThat(script.out()).isEqualTo("done\n");
    }
  }
}
