package dev.lukko.testkit.sim;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What became of a history. */
record Outcome(
    @Nullable Violation violation, long hash, int grants, long nanos, List<String> lines) {}
