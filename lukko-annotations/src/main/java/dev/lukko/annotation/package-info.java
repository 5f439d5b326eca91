/**
 * Locks by annotation. {@link dev.lukko.annotation.Locked} and its companions are for applications;
 * {@link dev.lukko.annotation.LockedCall} and what it needs are for the frameworks that honour
 * them.
 */
@NullMarked
package dev.lukko.annotation;

import org.jspecify.annotations.NullMarked;
