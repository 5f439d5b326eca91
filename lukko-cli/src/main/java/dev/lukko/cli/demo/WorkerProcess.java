package dev.lukko.cli.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

/** A worker, as the demo sees it: a process of its own that takes one job after the other. */
final class WorkerProcess implements AutoCloseable {

  private static final Duration END_TIMEOUT = Duration.ofSeconds(5);

  private final String name;
  private final Process process;
  private final PrintWriter jobs;
  private final AtomicReference<CompletableFuture<String>> answer = new AtomicReference<>();
  private final CompletableFuture<String> ready = new CompletableFuture<>();

  private WorkerProcess(String name, Process process) {
    this.name = name;
    this.process = process;
    this.jobs = new PrintWriter(process.getOutputStream(), true, StandardCharsets.US_ASCII);
    answer.set(ready);
    Thread reader = new Thread(this::read, "lukko-demo-" + name.replace(' ', '-'));
    reader.setDaemon(true);
    reader.start();
  }

  /** Starts a worker; it is ready when {@link #ready()} says so. */
  static WorkerProcess start(String name, int ledgerPort, List<String> nodes) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(WorkerMain.class.getName());
    command.add(Integer.toString(ledgerPort));
    command.addAll(nodes);
    return new WorkerProcess(
        name, new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  /**
   * The options of this JVM that make a start quick, such as the archive of classes, and no others:
   * a debugger or an agent is meant for the demo alone.
   */
  private static List<String> options() {
    List<String> options =
        new ArrayList<>(
            List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx64m"));
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(
            option ->
                option.startsWith("-XX:SharedArchiveFile=")
                    || option.startsWith("-Xlog:")
                    || option.startsWith("-Djava.io.tmpdir=")
                    || option.startsWith("--sun-misc-unsafe-memory-access="))
        .forEach(options::add);
    // A worker that is killed could not take this file with it.
    options.add("-XX:-UsePerfData");
    return options;
  }

  String name() {
    return name;
  }

  ProcessHandle handle() {
    return process.toHandle();
  }

  CompletableFuture<String> ready() {
    return ready;
  }

  /** Gives the worker a job; the future completes with its answer. One job at a time. */
  CompletableFuture<String> ask(String job) {
    CompletableFuture<String> next = new CompletableFuture<>();
    if (!answer.compareAndSet(null, next)) {
      throw new IllegalStateException(name + " has a job already");
    }
    jobs.println(job);
    if (!process.isAlive()) {
      next.completeExceptionally(ended());
    }
    return next;
  }

  /** Gives the worker a job and waits for its answer. */
  String call(String job, Duration timeout) throws InterruptedException {
    return await(ask(job), timeout);
  }

  /** Waits for an answer. */
  static String await(CompletableFuture<String> answer, Duration timeout)
      throws InterruptedException {
    try {
      return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new DemoFailedException("a worker did not answer within " + timeout.toSeconds() + " s");
    } catch (ExecutionException e) {
      throw new DemoFailedException(
          e.getCause() instanceof DemoFailedException known
              ? String.valueOf(known.getMessage())
              : e.toString());
    }
  }

  private void read() {
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII))) {
      String line = in.readLine();
      while (line != null) {
        CompletableFuture<String> waiting = answer.getAndSet(null);
        if (waiting != null && line.startsWith("FAILED ")) {
          waiting.completeExceptionally(new DemoFailedException(name + ": " + line.substring(7)));
        } else if (waiting != null) {
          waiting.complete(line);
        }
        line = in.readLine();
      }
    } catch (IOException gone) {
      // The same as the end of the stream.
    }
    CompletableFuture<String> waiting = answer.getAndSet(null);
    if (waiting != null) {
      waiting.completeExceptionally(ended());
    }
  }

  private DemoFailedException ended() {
    return new DemoFailedException(name + " has ended unexpectedly");
  }

  /** Kills the process, which may be stopped or busy, and waits until it is gone. */
  @Override
  public void close() {
    process.destroyForcibly();
    boolean interrupted = false;
    long deadlineNanos = System.nanoTime() + END_TIMEOUT.toNanos();
    while (process.isAlive() && System.nanoTime() - deadlineNanos < 0) {
      try {
        process.waitFor(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
