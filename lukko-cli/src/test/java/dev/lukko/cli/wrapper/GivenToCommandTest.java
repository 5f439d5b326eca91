package dev.lukko.cli.wrapper;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What COMMAND gets from the caller is what it would get without the wrapper. */
@EnabledOnOs(OS.LINUX)
class GivenToCommandTest {

  @TempDir Path directory;

  @ParameterizedTest
  @MethodSource("dev.lukko.cli.wrapper.Wrapper#all")
  void wordsReachTheCommandAsTheBytesTheyWereInEveryLocale(Wrapper wrapper) throws Exception {
    Files.writeString(directory.resolve("payload.json"), "contents");
    String text =
        "cd $DIR; set -- -d @payload.json \"$(printf 'Stra\\303\\237e')\""
            + " \"$(printf '\\201\\202\\203\\204\\205\\206\\207\\210\\377')\" '' 'a  b' '*' 'x=y' '--ttl' -- \"$(printf 'a\\nb')\";"
            + " printf '%s\\0' \"$@\" >expected; "
            + wrapper.words()
            + " sh -c 'printf \"%s\\0\" \"$@\"' name \"$@\" >got && cmp expected got";

    try (Script script = Script.start(directory, Map.of("LC_ALL", "C"), text)) {
      assertThat(script.exitCode()).as(script.out() + script.err()).isZero();
      assertThat(script.err()).isEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("dev.lukko.cli.wrapper.Wrapper#both")
  void everyDescriptorIsPassedOn(Wrapper wrapper) throws Exception {
    Files.writeString(directory.resolve("input"), "read through 8\n");
    String text =
        wrapper.words()
            + " sh -c 'cat <&8; echo written through 9 >&9'"
            + " 8<$DIR/input 9>$DIR/output 3>/dev/null 4>/dev/null 5>/dev/null 6>/dev/null";

    try (Script script = Script.start(directory, text)) {
      assertThat(script.exitCode()).as(script.err()).isZero();
      assertThat(script.out()).isEqualTo("read through 8\n");
      assertThat(directory.resolve("output")).hasContent("written through 9\n");
      assertThat(script.err()).isEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("dev.lukko.cli.wrapper.Wrapper#lukko")
  void theCommandHasNoOtherDescriptorsThanWithoutTheWrapper(Wrapper wrapper) throws Exception {
    String list = " sh -c 'cd /proc/$$/fd && echo *'";
    String text =
        list
            + "; "
            + wrapper.words()
            + list
            + ";"
            + list
            + " <&-; "
            + wrapper.words()
            + list
            + " <&-";

    try (Script script = Script.start(directory, text)) {
      assertThat(script.exitCode()).isZero();
      String[] lines = script.out().split("\n");
      assertThat(lines).hasSize(4);
      assertThat(lines[1]).isEqualTo(lines[0]).startsWith("0 1 2");
      if (wrapper
          != Wrapper
              .LUKKO_BUSYBOX) { // whose env cannot reset signals; Perl can, and opens /dev/null
        assertThat(lines[3]).as("with standard input closed").isEqualTo(lines[2]);
      }
    }
  }

  @Test
  void theCommandHasTheCallersVariablesAndTwoMore() throws Exception {
    String list = " env | grep -v -e ^_= -e ^SHLVL= -e ^OLDPWD= -e ^PWD= | sort";
    Map<String, String> environment =
        Map.of(
            "target", "theirs", "options", "theirs", "JAVA_TOOL_OPTIONS", "-Xms1m", "LC_ALL", "C");

    try (Script script =
        Script.start(
            directory,
            environment,
            list
                + " >$DIR/before; "
                + Wrapper.LUKKO_SH.words()
                + " sh -c '"
                + list
                + "' | diff $DIR/before -")) {
      assertThat(script.exitCode()).as(script.err()).isEqualTo(1);
      assertThat(script.out())
          .containsPattern("> LUKKO_FENCING_TOKEN=\\d+\n> LUKKO_RESOURCE=nightly\n")
          .doesNotContain("<");
      assertThat(script.out().lines().filter(line -> line.startsWith(">"))).hasSize(2);
      assertThat(script.err()).isEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("dev.lukko.cli.wrapper.Wrapper#both")
  void aVariableWhoseNameIsNoneForAShellIsPassedOn(Wrapper wrapper) throws Exception {
    String text =
        "exec env \"$(printf 'spring.x=a  b\\nc\\303\\237')\" 'f%%=() { :; }' "
            + wrapper.words()
            + " perl -e 'print $ENV{\"spring.x\"}, $ENV{\"f%%\"}'";

    try (Script script = Script.start(directory, text)) {
      assertThat(script.exitCode()).as(script.err()).isZero();
      assertThat(script.out()).isEqualTo("a  b\nc\u00c3\u009f() { :; }");
      assertThat(script.err()).isEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("dev.lukko.cli.wrapper.Wrapper#both")
  void signalsAreIgnoredByTheCommandExactlyIfTheyWereByTheCaller(Wrapper wrapper) throws Exception {
    String masks = " sh -c 'grep SigIgn /proc/$$/status'";

    String both = masks + ";" + wrapper.words() + masks + ";";

    try (Script script = Script.start(directory, both + " trap '' HUP INT USR1;" + both)) {
      assertThat(script.exitCode()).isZero();
      String[] lines = script.out().split("\n");
      assertThat(lines).hasSize(4);
      assertThat(lines[1]).isEqualTo(lines[0]);
      assertThat(lines[2]).isNotEqualTo(lines[0]);
      assertThat(lines[3]).isEqualTo(lines[2]);
    }
  }

  @Test
  void whatCannotBeRunIsNamed() throws Exception {
    Files.writeString(directory.resolve("plain"), "text");
    String text =
        Wrapper.LUKKO_SH.words()
            + " no-such-command; echo $?; "
            + Wrapper.LUKKO_SH.words()
            + " $DIR/plain; echo $?";

    try (Script script = Script.start(directory, text)) {
      assertThat(script.exitCode()).isZero();
      assertThat(script.out()).isEqualTo("127\n126\n");
      assertThat(script.err())
          .isEqualTo(
              "lukko: cannot run 'no-such-command' under lock 'nightly': not found\n"
                  + "lukko: cannot run '"
                  + directory.resolve("plain")
                  + "' under lock 'nightly': not an executable file\n");
    }
  }

  @ParameterizedTest
  @MethodSource("dev.lukko.cli.wrapper.Wrapper#both")
  void aCommandThatASignalEndsIsReportedAsShellsDo(Wrapper wrapper) throws Exception {
    String text = wrapper.words() + " sh -c 'kill -KILL $$'; echo $?";

    try (Script script = Script.start(directory, text)) {
      assertThat(script.exitCode()).isZero();
      assertThat(script.out()).isEqualTo("137\n");
      assertThat(script.err()).isEmpty();
    }
  }
}
