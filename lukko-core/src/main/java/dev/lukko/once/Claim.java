package dev.lukko.once;

import dev.lukko.fencing.RequestFingerprint;
import org.jspecify.annotations.Nullable;

/** What a store says to one who wants to claim an idempotency key. */
public sealed interface Claim {

  /** It is the caller's now, or was so already. */
  record Taken() implements Claim {}

  /**
   * The work was done.
   *
   * @param request the fingerprint that the key was used with
   */
  record Done(RequestFingerprint request, @Nullable String result) implements Claim {}

  /**
   * Another call does the work.
   *
   * @param request the fingerprint that the key was used with
   * @param leftMillis how long its claim lasts yet, by the store's clock
   */
  record Running(RequestFingerprint request, long leftMillis) implements Claim {}
}
