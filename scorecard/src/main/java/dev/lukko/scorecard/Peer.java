package dev.lukko.scorecard;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A client process: asked by lines, answering by lines. Can be stopped, continued and killed. */
final class Peer implements AutoCloseable {
  /** What stands for the answer of a client that gave none. */
  static final String SILENCE = "no answer within 30 s";

  private static final long ANSWER_MILLIS = 30_000;
  private static final long START_SECONDS = 60;
  private static final long SIGNAL_SECONDS = 10;

  private final Process process;
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
  private volatile long lostNanos;
  private volatile boolean lost;
  private int unanswered;

  private Peer(Process process) {
    this.process = process;
    Thread reader = new Thread(this::read, "lukko-scorecard-reader");
    reader.setDaemon(true);
    reader.start();
    // A stopped process would outlive this JVM: it does not see that its input has ended.
    Runtime.getRuntime()
        .addShutdownHook(new Thread(process::destroyForcibly, "lukko-scorecard-shutdown"));
  }

  static Peer start(List<String> command) throws InterruptedException {
    try {
      Peer peer =
          new Peer(
              new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start());
      if (!"ready".equals(peer.answers.poll(START_SECONDS, TimeUnit.SECONDS))) {
        peer.close();
        throw new IllegalStateException("a client did not start: " + command);
      }
      return peer;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void read() {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.equals("lost")) {
          lostNanos = System.nanoTime();
          lost = true;
        } else {
          answers.add(line);
        }
      }
    } catch (IOException gone) {
      answers.add("gone");
    }
  }

  /** Asks, and waits for the answer. */
  String ask(String question) throws InterruptedException {
    send(question);
    return await(ANSWER_MILLIS);
  }

  /** Asks without waiting for the answer. */
  void send(String question) {
    try {
      OutputStream input = process.getOutputStream();
      input.write((question + "\n").getBytes(StandardCharsets.UTF_8));
      input.flush();
      unanswered++;
    } catch (IOException e) {
      throw new UncheckedIOException("a client is gone", e);
    }
  }

  /** The answer to what was asked last; those to earlier questions are passed over. */
  String await(long millis) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (unanswered > 0) {
      String answer = answers.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (answer == null) {
        return SILENCE;
      }
      unanswered--;
      if (unanswered == 0) {
        return answer;
      }
    }
    throw new IllegalStateException("nothing was asked");
  }

  /** Whether the library has told of a loss. */
  boolean wasToldOfLoss() {
    return lost;
  }

  /** When that was, on the monotonic clock. */
  long lostNanos() {
    return lostNanos;
  }

  void pause() throws InterruptedException {
    signal("-STOP");
  }

  void resume() throws InterruptedException {
    signal("-CONT");
  }

  private void signal(String signal) throws InterruptedException {
    try {
      Process kill = new ProcessBuilder("kill", signal, Long.toString(process.pid())).start();
      if (!kill.waitFor(SIGNAL_SECONDS, TimeUnit.SECONDS) || kill.exitValue() != 0) {
        throw new IllegalStateException("kill " + signal + " failed");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** SIGKILL. */
  void kill() {
    process.destroyForcibly();
    try {
      process.waitFor(SIGNAL_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    kill();
  }
}
