package dev.lukko.cli.demo;

import dev.lukko.cli.demo.DemoResult.Counts;
import java.util.Locale;

/** The result as a table of less than 80 columns. */
public final class DemoTable {

  private DemoTable() {}

  /** Prints the table, and a sentence on what it says. */
  public static void print(DemoResult result, Screen screen) {
    screen.line("");
    screen.line(row("", "posted", "double charges", "stale writes", "refused"));
    row(screen, "no lock", result.unlocked());
    row(
        screen,
        "Redlock, " + result.nodesKilled() + " killed, " + result.nodesHung() + " hung",
        result.redlock());
    row(screen, "stopped holder, no fence", result.withoutFence());
    row(screen, "stopped holder, fence", result.withFence());
    screen.line("");
    if (result.isAsPromised()) {
      screen.line("A lock keeps workers apart; only a fence stops one that was paused too long.");
    } else {
      screen.line(screen.bad("This is not what was promised; please report it."));
    }
  }

  private static void row(Screen screen, String name, Counts counts) {
    screen.line(
        row(
            name,
            counts.posted() + "/" + counts.invoices(),
            counts.doubleCharges(),
            counts.staleWrites(),
            counts.refused()));
  }

  private static String row(Object... cells) {
    return String.format(Locale.ROOT, "%-25s  %7s  %14s  %12s  %7s", cells).stripTrailing();
  }
}
