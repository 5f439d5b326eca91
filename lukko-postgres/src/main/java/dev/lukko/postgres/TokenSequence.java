package dev.lukko.postgres;

import dev.lukko.spi.GrantRequest;

/** What the sequence of fencing tokens may give; another program may have altered it. */
final class TokenSequence {
  private TokenSequence() {}

  static boolean gives(long token) {
    return token > 0 && token <= GrantRequest.MAX_COUNTER;
  }

  /** The token, if it is one. */
  static long checked(long token) {
    if (!gives(token)) {
      throw altered(token);
    }
    return token;
  }

  static UnsuitableDatabaseException altered(long given) {
    return new UnsuitableDatabaseException(
        "the sequence fencing_token has given "
            + given
            + "; a token is a number from 1 to "
            + GrantRequest.MAX_COUNTER
            + ". Somebody has altered the sequence; set it above every token that was given:"
            + " ALTER SEQUENCE ... RESTART WITH ...");
  }
}
