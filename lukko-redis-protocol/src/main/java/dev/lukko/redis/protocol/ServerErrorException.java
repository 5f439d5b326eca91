package dev.lukko.redis.protocol;

import dev.lukko.LockException;
import dev.lukko.text.Printable;

/** An error that a server has replied; its message is the reply, made printable. */
public final class ServerErrorException extends LockException {
  private static final long serialVersionUID = 1L;

  /** An error for a reply. */
  public ServerErrorException(String reply) {
    super(Printable.of(reply));
  }
}
