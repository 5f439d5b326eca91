package dev.lukko.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.testkit.TestCertificates;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class UsageTest {

  /** Nobody listens here; a command that is refused before any I/O does not notice. */
  private static final String NODE = "redis://127.0.0.1:1";

  private static final String SOCKET = "--node=redis-socket:///a";

  private static final Path CACERT = certificate();

  private static final String COLUMN_1 = "--fence-column=1";

  static Stream<Arguments> wrongCommandLines() {
    return Stream.of(
        wrong("unknown command 'rum'; did you mean run?", "rum"),
        wrong("unknown option '--jsn'; did you mean --json?", "demo", "--jsn"),
        wrong("unknown argument 'now'", "demo", "now"),
        wrong("unknown option '--nod'; did you mean --node", "status", "--nod", NODE, "r"),
        wrong("unknown option '--wiat'", "run", "--wiat", "5s", "--node", NODE, "r", "--", "true"),
        wrong("--key-format plain is for Redis", "run", "--key-format=plain", "r", "--", "true"),
        wrong("--key-format plain is for Redis", "status", "--key-format=plain", "r"),
        wrong("missing required parameter: 'RESOURCE'", "status", "--node", NODE),
        wrong("no resource: write lukko run RESOURCE -- COMMAND", "run", "--node", NODE),
        wrong("no resource: write", "run", "--node", NODE, "--", "true"),
        wrong("no command to run under 'r'", "run", "--node", NODE, "r"),
        wrong("no command to run under 'r'", "run", "--node", NODE, "r", "--"),
        wrong("'-l' after the resource 'r' is ambiguous", "run", "--node", NODE, "r", "-l"),
        wrong("'30' has no unit; write 30s", "run", "--ttl", "30", "--node", NODE, "r", "--", "x"),
        wrong("'0' has no unit; write 0s", "run", "--wait", "0", "--node", NODE, "r", "--", "x"),
        wrong("'soon' is not a duration", "run", "--wait=soon", "--node", NODE, "r", "--", "x"),
        wrong("ttl is PT0S; it must be at least 1 ms", "run", "--ttl=0s", "--node", NODE, "r", "x"),
        wrong("ttl is 6 min 0 s; it must", "run", "--ttl=6m", "--node", NODE, "r", "--", "x"),
        wrong("--max-hold is 0 ms", "run", "--max-hold=0s", "--node", NODE, "r", "--", "x"),
        wrong("--on-lost", "run", "--on-lost", "ask", "--node", NODE, "r", "--", "x"),
        wrong("--key-format", "run", "--key-format", "odd", "--node", NODE, "r", "--", "x"),
        wrong("resource \"\" has 0 characters", "run", "--node", NODE, "", "--", "x"),
        wrong("the resource has 256 characters", "status", "--node", NODE, "r".repeat(256)),
        wrong("has an unknown scheme; known are redis", "status", "--node=http://h", "r"),
        wrong("has no scheme; write redis://localhost:6379", "status", "--node", "h", "r"),
        wrong("has no scheme; write redis://localhost:6379 ", "status", "--node", "h:1", "r"),
        wrong("has no host", "status", "--node", "redis://:6379", "r"),
        wrong("has no port from 1 to 65535", "status", "--node", "redis://h:99999", "r"),
        wrong("has no port from 1 to 65535", "status", "--node", "redis://h:x", "r"),
        wrong("given twice", "status", "--node", NODE, "--node", NODE, "r"),
        wrong("given twice", "status", "--node=redis://H", "--node=rediss://h:6379/2", "r"),
        wrong("given twice", "status", "--node=redis-socket:///a?database=1", SOCKET, "r"),
        wrong("no parameter sentinelMasterId", "status", "--node=redis-sentinel://h", "r"),
        wrong("has an unknown parameter", "status", "--node=redis://h?password=s3cret", "r"),
        wrong("has several hosts", "status", "--node=redis://h,i", "r"),
        wrong("--cert and --key go together", "status", "--cert=c.pem", "--node", NODE, "r"),
        wrong("it must begin with rediss", "doctor", "--cacert=" + CACERT, "--node", NODE),
        wrong("cacert is /none; it must", "doctor", "--cacert=/none", "--node", NODE),
        wrong("--timeout is 1 ms; it must", "doctor", "--timeout=1ms", "--node", NODE),
        wrong("missing required option: '--dialect=NAME'", "ddl"),
        wrong("unknown dialect 'oracle'; known are postgres,", "ddl", "--dialect", "oracle"),
        wrong("--fence: table is \"a-b\"; it must", "ddl", "--dialect=h2", "--fence=a-b"),
        wrong("--idempotency: table is \"\"", "ddl", "--dialect=h2", "--idempotency="),
        wrong("is for postgres only", "ddl", "--dialect=h2", "--fence-trigger=a"),
        wrong("fenceColumn is \"1\"", "ddl", "--dialect=postgres", "--fence-trigger=a", COLUMN_1),
        wrong("goes with --fence-trigger", "ddl", "--dialect=postgres", COLUMN_1),
        wrong("nothing to print", "ddl", "--dialect=postgres", "--no-lock"));
  }

  private static Path certificate() {
    try (TestCertificates authority = TestCertificates.create()) {
      Path copy = Files.createTempFile("lukko-ca-", ".pem");
      copy.toFile().deleteOnExit();
      return Files.copy(authority.authority(), copy, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Arguments wrong(String message, String... args) {
    return Arguments.of(message, List.of(args));
  }

  @ParameterizedTest
  @MethodSource("wrongCommandLines")
  void aWrongCommandLineIsRefusedOnOneLineThatSaysWhatIsWrong(String message, List<String> args) {
    Invocation invocation = Invocation.of(args.toArray(String[]::new));

    assertThat(invocation.err()).startsWith("lukko: ").contains(message).containsOnlyOnce("\n");
    assertThat(invocation.err()).endsWith(" --help')\n");
    assertThat(invocation.out()).isEmpty();
    assertThat(invocation.err()).doesNotContain("s3cret");
    assertThat(invocation.exitCode()).isEqualTo(64);
  }

  @Test
  void noCommandIsRefusedWithTheList() {
    Invocation invocation = Invocation.of();

    assertThat(invocation.exitCode()).isEqualTo(64);
    assertThat(invocation.err()).contains("no command", "run", "status", "demo", "ddl");
    assertThat(invocation.out()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://:s3cret@127.0.0.1:99999",
        "http://u:s3cret@127.0.0.1",
        "u:s3cret@127.0.0.1:1",
        "redis://:s3cr et@",
        "redis://:s3cret%@127.0.0.1"
      })
  void aPasswordIsNotShownWhenItsAddressIsRefused(String url) {
    Invocation invocation = Invocation.of("run", "--node", url, "r", "--", "true");

    assertThat(invocation.exitCode()).isEqualTo(64);
    assertThat(invocation.err()).contains("node").doesNotContain("s3cr");
  }

  @Test
  void aPasswordIsNotShownWhenAServerIsGivenTwice() {
    Invocation invocation =
        Invocation.with(
            Map.of("LUKKO_NODES", "redis://:s3cret@h:1, redis://:s3cret@h:1"), "status", "r");

    assertThat(invocation.exitCode()).isEqualTo(64);
    assertThat(invocation.err()).contains("redis://h:1 is given twice").doesNotContain("s3cret");
  }

  @Test
  void aPasswordIsNotShownWhenTheWordIsNotExpected() {
    Invocation invocation = Invocation.of("demo", "redis://:s3cret@h");

    assertThat(invocation.err()).contains("unknown argument 'redis://***@h'");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "run", "status", "doctor", "demo", "ddl", "purge"})
  void helpTellsOfExamplesAndExitCodesInEightyColumns(String command) {
    Invocation invocation =
        command.isEmpty() ? Invocation.of("--help") : Invocation.of(command, "--help");

    assertThat(invocation.exitCode()).isZero();
    assertThat(invocation.err()).isEmpty();
    assertThat(invocation.out()).contains("Examples:", "lukko " + command).doesNotContain("\u001B");
    assertThat(invocation.out().lines()).allSatisfy(line -> assertThat(line).hasSizeLessThan(81));
    assertThat(invocation.out()).contains("Exit codes:", "  64 ");
  }

  @Test
  void theVersionIsPrinted() {
    Invocation invocation = Invocation.of("--version");

    assertThat(invocation.exitCode()).isZero();
    assertThat(invocation.out()).startsWith("lukko ");
  }
}
