package dev.lukko.cli;

import dev.lukko.Lease;
import java.io.IOException;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * COMMAND as a child of this JVM, for where no shell has started that: it gets the standard
 * streams, and of the signals those that Java can take.
 */
final class OwnCommand implements CommandProcess {

  private final SignalRelay signals = new SignalRelay();
  private final CompletableFuture<Integer> ended = new CompletableFuture<>();
  private final CompletableFuture<Void> abandoned = new CompletableFuture<>();
  private @Nullable Process child;

  @Override
  public OptionalInt early() {
    return signals
        .early()
        .map(signal -> OptionalInt.of(signal.exitCode()))
        .orElseGet(OptionalInt::empty);
  }

  @Override
  public void start(Lease lease, RunWords words) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(words.command()).inheritIO();
    builder.environment().put("LUKKO_RESOURCE", words.resource());
    builder.environment().put("LUKKO_FENCING_TOKEN", Long.toString(lease.fencingToken()));
    Process started = builder.start();
    child = started;
    signals.attach(started.toHandle());
    started.onExit().thenAccept(process -> ended.complete(process.exitValue()));
  }

  @Override
  public ProcessHandle handle() {
    return Objects.requireNonNull(child, "not started").toHandle();
  }

  @Override
  public CompletableFuture<Integer> ended() {
    return ended;
  }

  @Override
  public CompletableFuture<Void> abandoned() {
    return abandoned;
  }

  @Override
  public void detach() {
    signals.detach();
  }

  @Override
  public void close() {
    signals.close();
  }
}
