package dev.lukko.testkit.contract;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * Prints, when the suite of a node is over, how many rules were not shown for it and why: runners
 * put the reason of a skipped test into their reports, where few look.
 */
final class SkippedRules implements TestWatcher, AfterAllCallback {
  private final Map<String, Integer> rulesByReason = new TreeMap<>();

  @Override
  public synchronized void testAborted(ExtensionContext context, @Nullable Throwable cause) {
    String message = cause == null ? "without a reason" : String.valueOf(cause.getMessage());
    String reason = message.replace("Assumption failed: ", "");
    rulesByReason.merge(reason, 1, Integer::sum);
  }

  @Override
  public synchronized void afterAll(ExtensionContext context) {
    if (!rulesByReason.isEmpty()) {
      System.out.println(
          rulesByReason.entrySet().stream()
              .map(entry -> entry.getValue() + " of them " + entry.getKey())
              .collect(
                  Collectors.joining(
                      "; ", context.getDisplayName() + ": rules not shown for this node: ", "")));
      rulesByReason.clear();
    }
  }
}
