package dev.lukko.redis;

import dev.lukko.Lease;
import dev.lukko.LockRequest;
import dev.lukko.redlock.Redlock;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A JVM of its own that holds the lock, and can be stopped and continued from outside. */
final class HolderProcess implements AutoCloseable {
  private final Process process;
  private final BufferedReader output;

  private HolderProcess(Process process) {
    this.process = process;
    this.output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  static HolderProcess start(List<String> urls) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp"));
    command.add(System.getProperty("java.class.path"));
    command.add(HolderProcess.class.getName());
    command.addAll(urls);
    return new HolderProcess(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  /** What the process does: takes the lock, waits for a line, and tells what it sees first. */
  public static void main(String[] urls) throws IOException {
    try (Redlock client =
        Redlock.builder()
            .nodes(RedisNode.connectAll(urls))
            .nodeTimeout(Duration.ofMillis(500)) // This process is cold, and may share its machine.
            .build()) {
      Lease lease =
          client.acquire(
              LockRequest.builder(FiveServers.R)
                  .ttl(Duration.ofMillis(1_000))
                  .autoExtend(true)
                  .build());
      System.out.println("token " + lease.fencingToken());
      System.out.flush();
      if (System.in.read() >= 0) {
        boolean first = lease.isValid();
        System.out.println("valid " + first);
        System.out.flush();
      }
      lease.release();
    }
  }

  long token() {
    return Long.parseLong(line("token "));
  }

  String firstSeenValidity() {
    return line("valid ");
  }

  void pause() throws IOException, InterruptedException {
    signal("-STOP");
  }

  /** Continues the process, with the line that it waits for in its input already. */
  void resume() throws IOException, InterruptedException {
    OutputStream input = process.getOutputStream();
    input.write('\n');
    input.flush();
    signal("-CONT");
  }

  private void signal(String signal) throws IOException, InterruptedException {
    Process kill = new ProcessBuilder("kill", signal, Long.toString(process.pid())).start();
    if (!kill.waitFor(10, TimeUnit.SECONDS) || kill.exitValue() != 0) {
      throw new AssertionError("kill " + signal + " failed");
    }
  }

  private String line(String prefix) {
    try {
      String line =
          CompletableFuture.supplyAsync(
                  () -> {
                    try {
                      return output.readLine();
                    } catch (IOException e) {
                      throw new java.io.UncheckedIOException(e);
                    }
                  })
              .get(60, TimeUnit.SECONDS);
      if (line == null || !line.startsWith(prefix)) {
        throw new AssertionError("expected '" + prefix + "...', got '" + line + "'");
      }
      return line.substring(prefix.length());
    } catch (Exception failure) {
      throw new AssertionError("no line from the process of the holder", failure);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
    try {
      process.waitFor(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
