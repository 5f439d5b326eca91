package dev.lukko.testkit.sim;

/** The first check that failed in a history. */
record Violation(Check check, String what, long atNanos) {}
