package dev.lukko.cli.demo;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What the three acts came to, as the ledger and the servers say.
 *
 * @param unlocked the book that was kept without a lock
 * @param redlock the book that was kept under Redlock
 * @param nodesKilled how many servers were gone at the end of the second act
 * @param nodesHung how many servers did not answer then
 * @param withoutFence the book without a fence, with a stopped holder
 * @param withFence the book with a fence, with a stopped holder
 */
public record DemoResult(
    Counts unlocked,
    Counts redlock,
    int nodesKilled,
    int nodesHung,
    Counts withoutFence,
    Counts withFence) {

  /**
   * What an audit of a book found.
   *
   * @param invoices how many invoices there are
   * @param posted how many of them were posted at least once
   * @param doubleCharges how many postings there are beyond the first of each invoice
   * @param staleWrites how many postings landed behind one of the same invoice with a higher token
   * @param refused how many writes the fence refused
   */
  public record Counts(int invoices, int posted, int doubleCharges, int staleWrites, int refused) {}

  /** Whether the acts have shown what they are there to show. */
  public boolean isAsPromised() {
    return unlocked.doubleCharges() > 0
        && redlock.doubleCharges() == 0
        && redlock.posted() == redlock.invoices()
        && nodesKilled > 0
        && nodesHung > 0
        && withoutFence.staleWrites() > 0
        && withFence.staleWrites() == 0;
  }

  /** The result as a tree of JSON objects. */
  public Map<String, Map<String, Integer>> toJson() {
    Map<String, Map<String, Integer>> json = new LinkedHashMap<>();
    json.put("unlocked", billing(unlocked));
    Map<String, Integer> locked = billing(redlock);
    locked.put("nodesKilled", nodesKilled);
    locked.put("nodesHung", nodesHung);
    json.put("redlock", locked);
    Map<String, Integer> paused = new LinkedHashMap<>();
    paused.put("staleWritesWithoutFence", withoutFence.staleWrites());
    paused.put("staleWritesWithFence", withFence.staleWrites());
    json.put("pausedHolder", paused);
    return json;
  }

  private static Map<String, Integer> billing(Counts counts) {
    Map<String, Integer> json = new LinkedHashMap<>();
    json.put("invoices", counts.invoices());
    json.put("posted", counts.posted());
    json.put("doubleCharges", counts.doubleCharges());
    return json;
  }
}
