package dev.lukko.cli.demo;

import dev.lukko.cli.demo.DemoResult.Counts;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One book of the ledger: some invoices, and every posting of them, in the order in which they
 * landed. Like a ledger without unique keys it takes whatever it is sent, unless it has a fence.
 * Thread-safe; each method is one atomic step.
 */
final class Book {

  /**
   * One charge of a customer.
   *
   * @param invoice the number of the invoice
   * @param token the fencing token of the writer's lease, or 0 if it had no lease
   */
  private record Posting(int invoice, long token) {}

  private final int invoices;
  private final boolean fenced;
  private final List<Posting> postings = new ArrayList<>();
  private final Map<Integer, Long> highestTokens = new LinkedHashMap<>();
  private final TreeMap<Integer, Runnable> milestones = new TreeMap<>();
  private int refused;

  /**
   * A book without postings.
   *
   * @param invoices how many invoices it has; they are numbered from 1
   * @param fenced whether it refuses a write with a token below the highest seen for the invoice
   */
  Book(int invoices, boolean fenced) {
    this.invoices = invoices;
    this.fenced = fenced;
  }

  /** Runs an action once, when this many invoices are posted, before the writer gets its answer. */
  synchronized void at(int posted, Runnable action) {
    milestones.put(posted, action);
  }

  /** The invoices that are not posted yet, in ascending order. */
  synchronized List<Integer> pending() {
    List<Integer> pending = new ArrayList<>();
    for (int invoice = 1; invoice <= invoices; invoice++) {
      if (!highestTokens.containsKey(invoice)) {
        pending.add(invoice);
      }
    }
    return pending;
  }

  synchronized boolean isPosted(int invoice) {
    return highestTokens.containsKey(invoice);
  }

  /**
   * Posts an invoice.
   *
   * @return whether it landed; false if the fence refused it
   */
  boolean post(int invoice, long token) {
    Runnable milestone = null;
    synchronized (this) {
      if (invoice < 1 || invoice > invoices) {
        throw new IllegalArgumentException("there is no invoice " + invoice);
      }
      long highest = highestTokens.getOrDefault(invoice, 0L);
      if (fenced && token < highest) {
        refused++;
        return false;
      }
      postings.add(new Posting(invoice, token));
      highestTokens.put(invoice, Math.max(highest, token));
      if (!milestones.isEmpty() && milestones.firstKey() <= highestTokens.size()) {
        milestone = milestones.pollFirstEntry().getValue();
      }
    }
    if (milestone != null) {
      milestone.run();
    }
    return true;
  }

  /** Counts what has landed, from the postings alone. */
  synchronized Counts audit() {
    Map<Integer, Long> highest = new LinkedHashMap<>();
    int stale = 0;
    for (Posting posting : postings) {
      Long before = highest.get(posting.invoice());
      if (before != null && posting.token() < before) {
        stale++;
      }
      highest.merge(posting.invoice(), posting.token(), Math::max);
    }
    int posted = highest.size();
    return new Counts(invoices, posted, postings.size() - posted, stale, refused);
  }
}
