package dev.lukko.annotation;

import dev.lukko.Lease;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method under a lock.
 *
 * <pre>{@code
 * @Locked(key = "'invoice:' + #id", ttl = "30s", maxWait = "2s")
 * @Transactional
 * public void bill(long id) { ... }
 * }</pre>
 *
 * <p>The lock is taken before the method's transaction begins and released when it has been
 * committed or rolled back. A caller's transaction that is running already keeps the lock until it
 * ends. A lock that was not acquired never runs the method, and what the method throws reaches the
 * caller as it is. A lease that was lost while the method ran is a {@link
 * dev.lukko.LeaseLostException}.
 *
 * <p>A parameter of the type {@link Lease} gets the lease, and one with {@link FencingToken} its
 * token; callers give {@code null} and {@code 0} there.
 *
 * <p>On a class it holds for each method that its callers can call and that has no annotation of
 * its own. Several on one method are taken in their order. As a part of an annotation of the
 * application's it gives that annotation its meaning.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
@Repeatable(Locked.Several.class)
public @interface Locked {

  /**
   * What to lock: expressions over the method's parameters, each of which gives one name or a
   * collection of names. All names together are one lease: all or nothing.
   */
  String[] key();

  /** How long the lock outlives a process that died, such as {@code 30s}; default: the client's. */
  String ttl() default "";

  /**
   * How long to wait for the lock, such as {@code 2s}. Default: with {@link OnBusy#THROW} by the
   * client's retry policy, otherwise not at all.
   */
  String maxWait() default "";

  /** What to do when another holds the lock to the end of the wait. */
  OnBusy onBusy() default OnBusy.THROW;

  /**
   * With {@link OnBusy#CALLBACK} the method of the same object that is called instead. It has the
   * parameters of this one, and after them a {@link dev.lukko.LockBusyException} if it wants to
   * know who holds the lock; and it returns what this one does.
   */
  String callback() default "";

  /** Whether the lease is extended in the background while the method runs. */
  boolean autoExtend() default true;

  /** Whether other shared holders may hold the lock at the same time. */
  boolean shared() default false;

  /** Whether waiters of all clients are served in the order in which they came. */
  boolean fair() default false;

  /** Several locks on one method or class. */
  @Documented
  @Retention(RetentionPolicy.RUNTIME)
  @Target({ElementType.METHOD, ElementType.TYPE})
  @interface Several {
    /** The locks, in the order in which they are taken. */
    Locked[] value();
  }
}
