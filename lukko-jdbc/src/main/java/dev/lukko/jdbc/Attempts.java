package dev.lukko.jdbc;

import dev.lukko.spi.Failed;
import dev.lukko.spi.Unknown;
import dev.lukko.time.Ticker;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a request on one connection, and what becomes of both: in whichever thread, the
 * connection goes back or is dropped, and the pace of the server is noted.
 */
final class Attempts {
  private final Sessions sessions;
  private final Reaper reaper;
  private final Pace pace;
  private final Ticker ticker;

  Attempts(Sessions sessions, Reaper reaper, Pace pace, Ticker ticker) {
    this.sessions = sessions;
    this.reaper = reaper;
    this.pace = pace;
    this.ticker = ticker;
  }

  /** The reply; null if the request was given up meanwhile by the timer. */
  <T> @Nullable T run(Request<T> request, Session session) throws GivenUp, Again {
    if (!request.send(session)) {
      sessions.giveBack(session);
      return null;
    }
    long startNanos = ticker.nanoTime();
    T reply;
    try {
      reply = request.attempt(session);
    } catch (SQLException | RuntimeException | Error failure) {
      // An error too: the stack of a caller may be nearly used up, and then the connection is not
      // known to be whole.
      throw new Again(judged(session, request, failure));
    }
    if (!request.answered()) {
      drop(session);
      return null;
    }
    if (request.owner() != null) {
      pace.answered(ticker.nanoTime() - startNanos);
    }
    if (session.isToBeLeft()) {
      leave(session);
    } else {
      keep(session);
    }
    if (reply == null) {
      throw new Again(null);
    }
    return reply;
  }

  /** A failure that is worth another attempt; all others end the request. */
  private SQLException judged(Session session, Request<?> request, Throwable failure)
      throws GivenUp {
    boolean certain = failure instanceof SQLException answer && session.traits().isCertain(answer);
    boolean known = certain || !session.isInDoubt();
    if (!request.answered() || !certain) {
      drop(session);
    } else if (session.traits().isElsewhere((SQLException) failure)) {
      leave(session);
    } else {
      keep(session);
    }
    if (!known) {
      throw new GivenUp(new Unknown(describe(failure), failure));
    }
    if (failure instanceof SQLException answer && session.traits().isConflict(answer)) {
      return answer;
    }
    throw new GivenUp(new Failed(describe(failure), failure));
  }

  private void drop(Session session) {
    pace.faulted();
    sessions.discard(session);
  }

  private void leave(Session session) {
    pace.faulted();
    sessions.leave(session);
  }

  private void keep(Session session) {
    sessions.giveBack(session);
    reaper.wake();
  }

  static String describe(Throwable failure) {
    String text = failure.getClass().getSimpleName() + ": " + failure.getMessage();
    return failure instanceof SQLException sql && sql.getSQLState() != null
        ? text + " [" + sql.getSQLState() + "]"
        : text;
  }
}
