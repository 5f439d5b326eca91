package dev.lukko.redis;

import dev.lukko.redis.protocol.NotSentException;
import dev.lukko.redis.protocol.ServerErrorException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Says in the protocol's words what the driver reports. */
final class DriverErrors {

  /** What the driver says of requests that it has not written to a connection at all. */
  private static final List<String> NEVER_SENT =
      List.of(
          "Currently not connected",
          "Connection is closed",
          "Request queue size exceeded",
          "Command buffer size exceeded",
          "Internal stack size exceeded");

  private DriverErrors() {}

  static Throwable ofRequest(Throwable error) {
    Throwable cause = unwrap(error);
    String message = cause.getMessage() == null ? "" : cause.getMessage();
    if (cause instanceof RedisCommandExecutionException) {
      return new ServerErrorException(message);
    }
    return cause instanceof RedisException && NEVER_SENT.stream().anyMatch(message::startsWith)
        ? new NotSentException(message, cause)
        : cause;
  }

  /** Why a connection could not be made. */
  static Throwable ofConnecting(Throwable error) {
    Throwable last = error;
    for (Throwable next = error; next != null; next = next.getCause()) {
      if (next instanceof RedisCommandExecutionException) {
        return new ServerErrorException(String.valueOf(next.getMessage()));
      }
      last = next;
    }
    // The driver's words for it tell nobody.
    return String.valueOf(last.getMessage()).startsWith("RedisHandshakeHandler")
        ? new IllegalStateException("the server closed the connection in the handshake", error)
        : error;
  }

  /** A request's outcome, in the protocol's words. */
  static <T extends @Nullable Object> CompletableFuture<T> translated(CompletionStage<T> request) {
    CompletableFuture<T> result = new CompletableFuture<>();
    var unused =
        request.whenComplete(
            (value, error) -> {
              if (error == null) {
                result.complete(value);
              } else {
                result.completeExceptionally(ofRequest(error));
              }
            });
    return result;
  }

  private static Throwable unwrap(Throwable error) {
    Throwable cause = error.getCause();
    return error instanceof CompletionException && cause != null ? unwrap(cause) : error;
  }
}
