package dev.lukko.bench.soak;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** The faults that a run can make. */
enum FaultKind {
  /** SIGSTOP, and SIGCONT after a while; up to three servers at a time. */
  SERVER_PAUSED,
  /** SIGKILL; the server comes back with its append-only file, or empty if it has none. */
  SERVER_KILLED,
  /** FLUSHALL. */
  SERVER_FLUSHED,
  /** SIGKILL, and the append-only file cut back to an earlier moment. */
  SERVER_POWER_LOST,
  /** The wall clock of a server jumps. */
  SERVER_CLOCK_JUMPED,
  /** Nothing passes between one client, or all, and a server. */
  NETWORK_HELD,
  /** The same for requests alone. */
  NETWORK_REQUESTS_HELD,
  /** The same for replies alone. */
  NETWORK_REPLIES_HELD,
  /** Every packet takes a while. */
  NETWORK_SLOW,
  /** Connections are reset and new ones refused. */
  NETWORK_CUT,
  /** One request is applied, its reply lost, and the connection silent. */
  REPLY_LOST,
  /** One request is applied, its reply lost, and the connection reset. */
  RESET_AT_REPLY,
  /** One request is lost together with its connection. */
  RESET_AT_REQUEST,
  /** SIGSTOP of a client, mostly the holder, past the ttl. */
  CLIENT_PAUSED,
  /** SIGKILL of a client; another takes its place. */
  CLIENT_KILLED,
  /** Between a client and the set: held, slow, a lost reply, a reset. */
  SET_UNREACHABLE;

  /** As it is written in tables and on the command line. */
  String words() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static Optional<FaultKind> named(String words) {
    return Stream.of(values()).filter(kind -> kind.words().equals(words)).findFirst();
  }
}
