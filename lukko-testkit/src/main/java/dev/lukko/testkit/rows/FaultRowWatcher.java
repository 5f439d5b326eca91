package dev.lukko.testkit.rows;

import dev.lukko.testkit.rows.FaultRows.Outcome;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/** Writes down what came out of a test that carries {@link FaultRow}. */
final class FaultRowWatcher implements BeforeEachCallback, TestWatcher {

  /** A test that began and never came to an end must be seen as well. */
  @Override
  public void beforeEach(ExtensionContext context) {
    record(context, Outcome.BEGUN, null);
  }

  @Override
  public void testSuccessful(ExtensionContext context) {
    record(context, Outcome.PASSED, null);
  }

  @Override
  public void testFailed(ExtensionContext context, @Nullable Throwable cause) {
    record(context, Outcome.FAILED, String.valueOf(cause));
  }

  @Override
  public void testAborted(ExtensionContext context, @Nullable Throwable cause) {
    record(context, Outcome.SKIPPED, cause == null ? "aborted" : cause.getMessage());
  }

  @Override
  public void testDisabled(ExtensionContext context, Optional<String> reason) {
    record(context, Outcome.SKIPPED, reason.orElse("disabled"));
  }

  private static void record(ExtensionContext context, Outcome outcome, @Nullable String detail) {
    FaultRow rows = context.getRequiredTestMethod().getAnnotation(FaultRow.class);
    if (rows == null) {
      return;
    }
    String test =
        context.getRequiredTestClass().getSimpleName()
            + "."
            + context.getRequiredTestMethod().getName();
    for (int row : rows.value()) {
      FaultRows.record(row, outcome, test, detail);
    }
  }
}
