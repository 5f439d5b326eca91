package dev.lukko.redis.protocol;

import dev.lukko.spi.Failed;
import dev.lukko.time.Ticker;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One look at a server: who it is, and what its records say. All questions go out at once.
 *
 * @param facts what the server tells of itself
 * @param records the records' texts by their fields, null if they could not be read
 * @param trouble why the records could not be read, or empty
 * @param serverMillis the server's time
 * @param atNanos when the answers were there, on this process's monotonic clock
 */
record Survey(
    ServerFacts facts,
    @Nullable SortedMap<String, String> records,
    String trouble,
    long serverMillis,
    long atNanos) {

  /** Asks; fails as the question for the server's identity fails. */
  static CompletableFuture<Survey> of(ServerConnection connection, String recordsKey) {
    CompletableFuture<String> info = connection.info();
    CompletableFuture<@Nullable String> save = setting(connection, "save");
    CompletableFuture<@Nullable String> appendfsync = setting(connection, "appendfsync");
    CompletableFuture<Reading<Map<String, String>>> records = reading(connection.hash(recordsKey));
    CompletableFuture<Reading<Long>> time = reading(connection.time().thenApply(Survey::millis));
    return CompletableFuture.allOf(info, save, appendfsync, records, time)
        .thenApply(
            done -> {
              ServerFacts facts =
                  ServerFacts.of(
                      String.valueOf(info.join()),
                      save.join(),
                      appendfsync.join(),
                      Ticker.system().wallInstant());
              String trouble = records.join().trouble() + time.join().trouble();
              Map<String, String> found = records.join().value();
              Long millis = time.join().value();
              return new Survey(
                  facts,
                  found == null || millis == null ? null : new TreeMap<>(found),
                  trouble,
                  millis == null ? 0 : millis,
                  Ticker.system().nanoTime());
            });
  }

  /** A setting, or null if this user may not ask for it. */
  private static CompletableFuture<@Nullable String> setting(
      ServerConnection connection, String name) {
    return connection.setting(name).handle((found, error) -> error == null ? found : null);
  }

  private static <T> CompletableFuture<Reading<T>> reading(CompletionStage<T> question) {
    return question
        .handle(
            (value, error) ->
                error == null
                    ? new Reading<T>(value, "")
                    : new Reading<T>(null, Faults.ofRequest(error).detail()))
        .toCompletableFuture();
  }

  private static long millis(List<String> secondsAndMicros) {
    if (secondsAndMicros.size() != 2
        || !secondsAndMicros.get(0).matches("[0-9]{1,12}")
        || !secondsAndMicros.get(1).matches("[0-9]{1,6}")) {
      throw new NodeFaultException(new Failed("TIME: the server's time cannot be read"));
    }
    long seconds = Long.parseLong(secondsAndMicros.get(0));
    long micros = Long.parseLong(secondsAndMicros.get(1));
    return seconds * 1_000 + micros / 1_000;
  }

  private record Reading<T>(@Nullable T value, String trouble) {}
}
