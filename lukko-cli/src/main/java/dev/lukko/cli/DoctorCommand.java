package dev.lukko.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.lukko.cli.doctor.Diagnosis;
import dev.lukko.cli.doctor.DiagnosisJson;
import dev.lukko.cli.doctor.DiagnosisText;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Looks at nodes and says what is wrong with them. */
@Command(
    name = "doctor",
    header = "Looks at nodes, and says what is wrong and what to do.",
    description = {
      "",
      "Asks every node who it is, how fast it answers, how it persists, what its clock says and"
          + " what its user may do; says whether it votes, and how many nodes may fail. Every"
          + " finding says what it breaks and what to do. Leaves nothing behind.",
      ""
    },
    sortOptions = false,
    mixinStandardHelpOptions = true,
    versionProvider = Lukko.Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:all nodes serve as they should; there may be warnings",
      "1:there is an error at a node, or no quorum",
      "64:the command line is wrong; nothing was done"
    },
    footer = {
      "",
      "Examples:",
      "  lukko doctor",
      "  lukko doctor --node redis://localhost:6379",
      "  LUKKO_NODES='redis://a redis://b redis://c' lukko doctor --json"
    })
final class DoctorCommand implements Callable<Integer> {

  private final Surroundings surroundings;

  @Mixin private NodeOptions nodes;

  @Option(
      names = "--max-ttl",
      paramLabel = "DURATION",
      defaultValue = "5m",
      description = {
        "The longest ttl that any client of these nodes asks for. An entry that lives longer is"
            + " reported. Default: 5m."
      })
  private Duration maxTtl = Duration.ZERO;

  @Option(
      names = "--timeout",
      paramLabel = "DURATION",
      defaultValue = "3s",
      description = "How long each node has to answer everything. Default: 3s.")
  private Duration timeout = Duration.ZERO;

  @Option(names = "--json", description = "Prints one JSON object instead of text.")
  private boolean json;

  DoctorCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() throws IOException {
    check("--timeout", timeout, Duration.ofMillis(100), Duration.ofMinutes(1));
    check("--max-ttl", maxTtl, Duration.ofMillis(1), Duration.ofDays(365));
    LockStore store = nodes.store(surroundings);
    Diagnosis diagnosis = store.diagnose(timeout, maxTtl);
    if (json) {
      Map<String, @Nullable Object> object = new LinkedHashMap<>();
      if (!store.headline().isEmpty()) {
        object.put("note", store.headline());
      }
      object.putAll(DiagnosisJson.of(diagnosis));
      new ObjectMapper()
          .disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET)
          .writeValue(surroundings.out(), object);
      surroundings.out().println();
    } else {
      if (!store.headline().isEmpty()) {
        surroundings.out().println(store.headline());
      }
      DiagnosisText.print(diagnosis, surroundings.out());
    }
    return diagnosis.isHealthy() ? ExitCode.OK : ExitCode.UNHEALTHY;
  }

  private static void check(String option, Duration value, Duration min, Duration max) {
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw new UsageException(
          option
              + " is "
              + Durations.show(value)
              + "; it must be from "
              + Durations.show(min)
              + " to "
              + Durations.show(max));
    }
  }
}
