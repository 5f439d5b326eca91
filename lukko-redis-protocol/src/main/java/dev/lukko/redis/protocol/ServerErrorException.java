package dev.lukko.redis.protocol;

import dev.lukko.LockException;

/** An error that a server has replied; its message is the reply. */
public final class ServerErrorException extends LockException {
  private static final long serialVersionUID = 1L;

  /** An error for a reply. */
  public ServerErrorException(String reply) {
    super(reply);
  }
}
