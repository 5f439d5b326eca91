package dev.lukko.bench.soak;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A {@link SoakClient} in a JVM of its own, which can be stopped, continued and killed. */
final class ClientProcess implements AutoCloseable {
  private static final long SIGNAL_SECONDS = 10;
  private static final long DRAIN_MILLIS = 10_000;

  private final String name;
  private final Process process;
  private final Thread reader;
  private final CountDownLatch ready = new CountDownLatch(1);
  private final CountDownLatch closed = new CountDownLatch(1);

  private ClientProcess(String name, Process process, Journal journal) {
    this.name = name;
    this.process = process;
    this.reader = new Thread(() -> read(journal), "lukko-soak-" + name);
    reader.setDaemon(true);
  }

  static ClientProcess start(
      SoakMode mode, String name, long seed, String set, List<String> nodes, Journal journal) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m", "-cp"));
    command.add(System.getProperty("java.class.path"));
    command.add(SoakClient.class.getName());
    command.addAll(List.of(mode.name(), name, Long.toString(seed), set));
    command.addAll(nodes);
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      ClientProcess client = new ClientProcess(name, process, journal);
      client.reader.start();
      // A stopped process would outlive this JVM: it does not see that its input has ended.
      Runtime.getRuntime()
          .addShutdownHook(new Thread(process::destroyForcibly, "lukko-soak-shutdown"));
      return client;
    } catch (IOException e) {
      throw new UncheckedIOException("client " + name + " did not start", e);
    }
  }

  private void read(Journal journal) {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        journal.heard(name, line);
        if (line.equals(Said.READY.line().strip())) {
          ready.countDown();
        } else if (line.equals(Said.CLOSED.line().strip())) {
          closed.countDown();
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  String name() {
    return name;
  }

  boolean isReady() {
    return ready.getCount() == 0;
  }

  boolean isAlive() {
    return process.isAlive();
  }

  boolean awaitReady(long seconds) throws InterruptedException {
    return ready.await(seconds, TimeUnit.SECONDS);
  }

  boolean awaitClosed(long seconds) throws InterruptedException {
    return closed.await(seconds, TimeUnit.SECONDS)
        && process.waitFor(SIGNAL_SECONDS, TimeUnit.SECONDS);
  }

  void pause() {
    signal("-STOP");
  }

  void resume() {
    signal("-CONT");
  }

  private void signal(String signal) {
    try {
      Process kill = new ProcessBuilder("kill", signal, Long.toString(process.pid())).start();
      if (!kill.waitFor(SIGNAL_SECONDS, TimeUnit.SECONDS) || kill.exitValue() != 0) {
        throw new IllegalStateException("kill " + signal + " of client " + name + " failed");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /** Tells it to finish and close. */
  void stop() {
    try {
      OutputStream input = process.getOutputStream();
      input.write("stop\n".getBytes(StandardCharsets.UTF_8));
      input.flush();
    } catch (IOException e) {
      throw new UncheckedIOException("client " + name + " is gone", e);
    }
  }

  /** Kills it, and waits until all that it told is in the journal. */
  void kill() {
    process.destroyForcibly();
    try {
      process.waitFor(SIGNAL_SECONDS, TimeUnit.SECONDS);
      reader.join(DRAIN_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    kill();
  }
}
