package dev.lukko.spring.locked;

import dev.lukko.annotation.LeaseParameters;
import java.lang.reflect.Method;
import java.util.List;

/**
 * A method with its locks, read and checked.
 *
 * @param method the method, as the bean's class has it
 * @param steps the locks in the order in which they are taken
 * @param kind when its work has ended
 * @param parameters those that get the lease
 * @param ownTransaction whether it never works in a transaction that its caller has begun
 */
record LockedMethod(
    Method method,
    List<LockStep> steps,
    ReturnKind kind,
    LeaseParameters parameters,
    boolean ownTransaction) {}
