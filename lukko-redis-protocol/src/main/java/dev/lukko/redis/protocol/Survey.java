package dev.lukko.redis.protocol;

import dev.lukko.spi.Failed;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One look at a server: who it is, and what its marker says. All questions go out at once.
 *
 * @param facts what the server tells of itself
 * @param marker the marker's text, empty if there is none, null if it could not be read
 * @param markerTrouble why the marker could not be read, or empty
 * @param serverMillis the server's time
 * @param atNanos when the answers were there, on this process's monotonic clock
 */
record Survey(
    ServerFacts facts,
    @Nullable String marker,
    String markerTrouble,
    long serverMillis,
    long atNanos) {

  /** Asks; fails as the question for the server's identity fails. */
  static CompletableFuture<Survey> of(ServerConnection connection, String markerKey) {
    CompletableFuture<String> info = connection.info();
    CompletableFuture<@Nullable String> save = setting(connection, "save");
    CompletableFuture<@Nullable String> appendfsync = setting(connection, "appendfsync");
    CompletableFuture<Reading> marker = reading(connection.get(markerKey));
    CompletableFuture<Reading> time = reading(connection.time().thenApply(Survey::millis));
    return CompletableFuture.allOf(info, save, appendfsync, marker, time)
        .thenApply(
            done -> {
              ServerFacts facts =
                  ServerFacts.of(
                      String.valueOf(info.join()), save.join(), appendfsync.join(), Instant.now());
              String trouble = marker.join().trouble() + time.join().trouble();
              String text = marker.join().text();
              String millis = time.join().text();
              return new Survey(
                  facts,
                  !trouble.isEmpty() ? null : text == null ? "" : text,
                  trouble,
                  millis == null ? 0 : Long.parseLong(millis),
                  System.nanoTime());
            });
  }

  /** A setting, or null if this user may not ask for it. */
  private static CompletableFuture<@Nullable String> setting(
      ServerConnection connection, String name) {
    return connection.setting(name).handle((found, error) -> error == null ? found : null);
  }

  private static CompletableFuture<Reading> reading(CompletionStage<@Nullable String> question) {
    return question
        .handle(
            (text, error) ->
                error == null
                    ? new Reading(text, "")
                    : new Reading(null, Faults.ofRequest(error).detail()))
        .toCompletableFuture();
  }

  private static String millis(List<String> secondsAndMicros) {
    if (secondsAndMicros.size() != 2
        || !secondsAndMicros.get(0).matches("[0-9]{1,12}")
        || !secondsAndMicros.get(1).matches("[0-9]{1,6}")) {
      throw new NodeFaultException(new Failed("TIME: the server's time cannot be read"));
    }
    long seconds = Long.parseLong(secondsAndMicros.get(0));
    long micros = Long.parseLong(secondsAndMicros.get(1));
    return Long.toString(seconds * 1_000 + micros / 1_000);
  }

  private record Reading(@Nullable String text, String trouble) {}
}
