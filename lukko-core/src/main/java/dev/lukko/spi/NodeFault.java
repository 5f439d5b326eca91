package dev.lukko.spi;

import org.jspecify.annotations.Nullable;

/** An answer that decides nothing: the node failed. Never counted, never taken for contention. */
public sealed interface NodeFault extends GrantReply, ConfirmReply, ExtendReply, ReleaseReply
    permits Failed, Unknown, NotVoting {

  /** What went wrong, for people: the class of the error first ("OOM: ...", "timeout: ..."). */
  String detail();

  /** The underlying failure, or null. */
  @Nullable Throwable cause();
}
