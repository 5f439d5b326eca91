/**
 * Proofs by induction, for any number of nodes: reads the models in {@code src/main/epr}, makes the
 * verification conditions and has Z3 check them.
 *
 * <p>{@link dev.lukko.spec.epr.TermReader} and {@link dev.lukko.spec.epr.ModelReader} read a model,
 * {@link dev.lukko.spec.epr.Variant} changes it, {@link dev.lukko.spec.epr.Conditions} writes what
 * is to be checked as a {@link dev.lukko.spec.epr.Query}, {@link dev.lukko.spec.epr.Alternation}
 * sees that it can be decided, and {@link dev.lukko.spec.epr.Z3} decides it.
 */
@NullMarked
package dev.lukko.spec.epr;

import org.jspecify.annotations.NullMarked;
