package dev.lukko.spring;

import dev.lukko.redlock.RedlockBuilder;

/** Changes the lock client before it is made, for what has no property. May be any bean. */
@FunctionalInterface
public interface LockClientCustomizer {

  /** Sets what is to be otherwise. */
  void customize(RedlockBuilder builder);
}
