package dev.lukko.modules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runtimes that have been cut down to the modules that an application names. */
class SmallRuntimeTest {

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aRuntimeWithoutFlightRecorderStillLocks(boolean onModulePath) throws Exception {
    String classes = folderOf(LockClient.class);
    String tests = folderOf(SmallRuntimeTest.class);
    List<String> where =
        onModulePath
            ? List.of(
                "--limit-modules",
                "java.base,dev.lukko",
                "--add-modules",
                "dev.lukko",
                "--module-path",
                classes,
                "--class-path",
                tests)
            : List.of(
                "--limit-modules",
                "java.base",
                "--class-path",
                classes + System.getProperty("path.separator") + tests);

    assertThat(run(where)).isEqualTo("held, RELEASED");
  }

  private static String folderOf(Class<?> type) throws Exception {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
  }

  private static String run(List<String> where) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(where);
    command.add(Main.class.getName());
    Process child = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (InputStream output = child.getInputStream()) {
      String said = new String(output.readAllBytes(), StandardCharsets.UTF_8).strip();
      assertThat(child.waitFor(30, TimeUnit.SECONDS)).isTrue();
      return said;
    } finally {
      child.destroyForcibly();
    }
  }

  /** What an application does, in a process of its own. */
  static final class Main {
    private Main() {}

    public static void main(String[] arguments) {
      try (LockClient locks = Redlock.over(new InMemoryNode("memory"))) {
        Lease lease = locks.acquire("job", Duration.ofSeconds(30));
        System.out.print(lease.isValid() ? "held, " : "not held, ");
        System.out.print(lease.release().status());
      }
    }
  }
}
