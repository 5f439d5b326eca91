package dev.lukko.redis.protocol;

import dev.lukko.spi.Failed;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.Unknown;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Tells failures that certainly have not been applied from those that may have been.
 *
 * <p>An error reply means that nothing was applied: the server refuses a request before it runs it
 * (BUSY, LOADING, MASTERDOWN, NOAUTH, NOPERM), or a script at its first write (OOM, MISCONF,
 * READONLY, NOREPLICAS), and the scripts write nothing before they have read everything.
 */
public final class Faults {

  /**
   * Before version 7, an error inside a script comes wrapped: {@code ... @user_script: 3: -OOM}.
   */
  private static final Pattern INSIDE_SCRIPT =
      Pattern.compile("^ERR Error running script.*: -?([A-Z]{2,}) (.*)$", Pattern.DOTALL);

  private static final Pattern CODE = Pattern.compile("^-?([A-Z][A-Z0-9]+) (.*)$", Pattern.DOTALL);

  private static final Pattern NO_DIGESTS =
      Pattern.compile(
          "(?:NOPERM .*'evalsha'.*|ERR unknown command.*evalsha.*)",
          Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

  private Faults() {}

  public static NodeFault ofRequest(Throwable error) {
    Throwable cause = unwrap(error);
    if (cause instanceof NodeFaultException known) {
      return known.fault();
    }
    if (cause instanceof ServerErrorException) {
      return new Failed(codeFirst(message(cause)), cause);
    }
    String message = message(cause);
    if (cause instanceof NotSentException) {
      return new Failed(Failed.NOT_SENT + ": " + message, cause);
    }
    return new Unknown("connection lost: " + message, cause);
  }

  /** Why a connection could not be made. */
  public static Failed ofConnecting(Throwable error) {
    Throwable cause = unwrap(error);
    Throwable refusal = find(cause, ServerErrorException.class);
    if (refusal != null) {
      return new Failed(codeFirst(message(refusal)), cause);
    }
    Throwable tls = find(cause, SSLException.class);
    if (tls != null) {
      return new Failed("TLS: " + message(innermost(tls)), cause);
    }
    Throwable refused = find(cause, ConnectException.class);
    if (refused != null && !isTimeout(refused)) {
      return new Failed("connection refused: " + message(refused), cause);
    }
    Throwable host = find(cause, UnknownHostException.class);
    if (host != null) {
      return new Failed("unknown host: " + message(host), cause);
    }
    Throwable last = innermost(cause);
    // A driver that gives up in the middle of its handshake closes the channel.
    boolean outOfTime = isTimeout(last) || last instanceof ClosedChannelException;
    String kind = outOfTime ? Failed.NOT_CONNECTED : "connection failed";
    return new Failed(kind + ": " + message(last), cause);
  }

  /** A driver's own error for it may be a kind of {@link ConnectException}. */
  private static boolean isTimeout(Throwable error) {
    return error.getClass().getSimpleName().contains("Timeout")
        || message(error).contains("timed out");
  }

  public static boolean isUnknownScript(Throwable error) {
    Throwable cause = unwrap(error);
    return cause instanceof ServerErrorException && message(cause).startsWith("NOSCRIPT");
  }

  /** Whether the server or its user lacks the command that names a script by its digest. */
  public static boolean isDigestRefused(Throwable error) {
    Throwable cause = unwrap(error);
    return cause instanceof ServerErrorException && NO_DIGESTS.matcher(message(cause)).matches();
  }

  /** Whether the server has answered at all, be it with an error. */
  public static boolean isReply(@Nullable Throwable error) {
    return error == null || unwrap(error) instanceof ServerErrorException;
  }

  /** Whether the server will certainly never see the request. */
  static boolean isNotSent(@Nullable Throwable error) {
    return error != null && unwrap(error) instanceof NotSentException;
  }

  /** {@code OOM command not allowed ...} becomes {@code OOM: command not allowed ...}. */
  private static String codeFirst(String reply) {
    Matcher wrapped = INSIDE_SCRIPT.matcher(reply);
    Matcher matcher = wrapped.matches() ? wrapped : CODE.matcher(reply);
    return matcher.matches()
        ? matcher.group(1) + ": " + matcher.group(2) + hint(matcher.group(1))
        : "ERR: " + reply;
  }

  private static String hint(String code) {
    return switch (code) {
      case "MOVED" ->
          "; it is one server of a cluster and does not have this lock: write redis-cluster:// to"
              + " use them all";
      case "ASK", "TRYAGAIN" -> "; the cluster is moving this lock to another server";
      case "CROSSSLOT" ->
          "; the names of resources that are locked together must begin with the same {tag}";
      default -> "";
    };
  }

  private static Throwable unwrap(Throwable error) {
    Throwable cause = error.getCause();
    return error instanceof CompletionException && cause != null ? unwrap(cause) : error;
  }

  private static @Nullable Throwable find(Throwable error, Class<? extends Throwable> type) {
    for (Throwable next = error; next != null; next = next.getCause()) {
      if (type.isInstance(next)) {
        return next;
      }
    }
    return null;
  }

  private static Throwable innermost(Throwable error) {
    Throwable last = error;
    while (last.getCause() != null) {
      last = last.getCause();
    }
    return last;
  }

  private static String message(Throwable error) {
    if (error instanceof CancellationException) {
      return "closed";
    }
    String message = error.getMessage();
    return message == null ? error.getClass().getSimpleName() : message;
  }
}
