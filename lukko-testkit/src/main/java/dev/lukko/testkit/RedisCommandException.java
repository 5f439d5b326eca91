package dev.lukko.testkit;

/**
 * An error reply of a {@link RedisServer}; the message is the reply, for example {@code WRONGTYPE
 * ...}.
 */
public final class RedisCommandException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  RedisCommandException(String reply) {
    super(reply);
  }
}
