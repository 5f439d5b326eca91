package dev.lukko.spring.locked;

import dev.lukko.annotation.BusyAnswer;
import dev.lukko.annotation.LockSettings;
import dev.lukko.annotation.MethodCall;
import java.util.function.Function;

/**
 * One lock of a method.
 *
 * @param settings what is taken
 * @param whenBusy what a call returns when another holds it
 */
record LockStep(LockSettings settings, Function<MethodCall, BusyAnswer> whenBusy) {}
