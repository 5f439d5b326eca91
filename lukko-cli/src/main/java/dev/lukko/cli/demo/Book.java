package dev.lukko.cli.demo;

import dev.lukko.cli.demo.DemoResult.Counts;
import dev.lukko.fencing.Fence;
import dev.lukko.fencing.StaleTokenException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

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
  private final @Nullable Fence fence;
  private final List<Posting> postings = new ArrayList<>();
  private final Set<Integer> posted = new HashSet<>();
  private final TreeMap<Integer, Runnable> milestones = new TreeMap<>();
  private int refused;

  /**
   * A book without postings.
   *
   * @param invoices how many invoices it has; they are numbered from 1
   * @param fence what refuses a stale token, or null if every write lands
   */
  Book(int invoices, @Nullable Fence fence) {
    this.invoices = invoices;
    this.fence = fence;
  }

  /** Runs an action once, when this many invoices are posted, before the writer gets its answer. */
  synchronized void at(int posted, Runnable action) {
    milestones.put(posted, action);
  }

  /** The invoices that are not posted yet, in ascending order. */
  synchronized List<Integer> pending() {
    List<Integer> pending = new ArrayList<>();
    for (int invoice = 1; invoice <= invoices; invoice++) {
      if (!posted.contains(invoice)) {
        pending.add(invoice);
      }
    }
    return pending;
  }

  synchronized boolean isPosted(int invoice) {
    return posted.contains(invoice);
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
      // Inside the monitor, so that nothing comes between the check and the write.
      if (fence != null && isStale(fence, invoice, token)) {
        refused++;
        return false;
      }
      postings.add(new Posting(invoice, token));
      posted.add(invoice);
      if (!milestones.isEmpty() && milestones.firstKey() <= posted.size()) {
        milestone = milestones.pollFirstEntry().getValue();
      }
    }
    if (milestone != null) {
      milestone.run();
    }
    return true;
  }

  private static boolean isStale(Fence fence, int invoice, long token) {
    try {
      fence.check("invoice:" + invoice, token);
      return false;
    } catch (StaleTokenException refusedByTheFence) {
      return true;
    }
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
    return new Counts(invoices, highest.size(), postings.size() - highest.size(), stale, refused);
  }
}
