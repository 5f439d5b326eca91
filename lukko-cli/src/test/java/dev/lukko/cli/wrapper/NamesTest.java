package dev.lukko.cli.wrapper;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** One name is one lock, whatever the locale of the caller. */
@EnabledOnOs(OS.LINUX)
class NamesTest {

  private static final String LARGE = "$(printf 'gr\\303\\266\\303\\237e')";
  private static final String GREETING = "$(printf 'gr\\303\\274\\303\\237e')";

  @TempDir Path directory;

  @Test
  void aNameIsTheSameInEveryLocaleAndAnotherOneIsAnother() throws Exception {
    String inner =
        "LC_ALL=C; export LC_ALL; \"$LUKKO\" run \""
            + GREETING
            + "\" -- echo another;"
            + " \"$LUKKO\" run \""
            + LARGE
            + "\" -- echo the same; echo $?;"
            + " \"$LUKKO\" status \""
            + LARGE
            + "\" | grep -c held, ; printf %s \"$LUKKO_RESOURCE\"";
    try (Script script =
        Script.start(
            directory,
            Map.of("LC_ALL", "C.UTF-8", "INNER", inner),
            "\"$LUKKO\" run \"" + LARGE + "\" -- sh -c \"$INNER\"")) {
      assertThat(script.exitCode()).as(script.err()).isZero();
      assertThat(script.out()).isEqualTo("another\n75\n1\ngr\u00c3\u00b6\u00c3\u009fe");
      assertThat(script.err()).startsWith("lukko: lock 'gr\u00c3\u00b6\u00c3\u009fe' is held by ");
    }
  }

  @Test
  void aNameThatIsNotUtf8IsRefused() throws Exception {
    String latin1 = "\"$(printf 'gr\\366\\337e')\"";
    try (Script script =
        Script.start(
            directory,
            Map.of("LC_ALL", "C"),
            "\"$LUKKO\" run "
                + latin1
                + " -- echo; echo $?; \"$LUKKO\" status "
                + latin1
                + "; echo $?")) {
      assertThat(script.exitCode()).isZero();
      assertThat(script.out()).isEqualTo("64\n64\n");
      assertThat(script.err().lines())
          .hasSize(2)
          .allSatisfy(line -> assertThat(line).contains("is not UTF-8; names of locks are"));
    }
  }

  @Test
  void aNameMayBeginWithADashOrAnAtSign() throws Exception {
    String text =
        "echo word >$DIR/file; cd $DIR; \"$LUKKO\" run -- -n -- sh -c 'printf \"%s\\n\" \"$LUKKO_RESOURCE\"';"
            + " \"$LUKKO\" run @file -- sh -c 'printf \"%s\\n\" \"$LUKKO_RESOURCE\"'; \"$LUKKO\" status -- -n | grep answered";
    try (Script script = Script.start(directory, text)) {
      assertThat(script.exitCode()).as(script.err()).isZero();
      assertThat(script.out()).isEqualTo("-n\n@file\n-n: free (1 of 1 nodes answered)\n");
    }
  }
}
