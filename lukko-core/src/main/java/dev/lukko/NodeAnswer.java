package dev.lukko;

import dev.lukko.text.Printable;
import org.jspecify.annotations.Nullable;

/**
 * What one node said in a round, for people and logs.
 *
 * @param node the node's name
 * @param kind the class of the answer
 * @param detail more of it: who holds the lock and for how long, or the error; may be empty
 * @param cause the underlying failure, or null
 */
public record NodeAnswer(String node, Kind kind, String detail, @Nullable Throwable cause) {

  public NodeAnswer {
    detail = Printable.of(detail);
  }

  /** An answer without an underlying failure. */
  public NodeAnswer(String node, Kind kind, String detail) {
    this(node, kind, detail, null);
  }

  /** The classes of answers. */
  public enum Kind {
    /** The node granted the lock. */
    GRANTED("granted"),
    /** The node refused, since another owner holds the resource. */
    HELD("held"),
    /** The node extended the entry. */
    EXTENDED("extended"),
    /** The node deleted the entry. */
    RELEASED("released"),
    /** The node has no entry of this owner. */
    NOT_HELD("not held"),
    /** The node failed, and certainly did not apply the request. */
    FAILED("failed"),
    /** The node did not answer properly, and may or may not have applied the request. */
    UNKNOWN("unknown"),
    /** The outcome was certain before this node answered. */
    PENDING("pending");

    private final String label;

    Kind(String label) {
      this.label = label;
    }

    /** Whether the node gave a proper answer, whatever it said. */
    public boolean reached() {
      return this != FAILED && this != UNKNOWN && this != PENDING;
    }
  }

  @Override
  public String toString() {
    return detail.isEmpty() ? node + ": " + kind.label : node + ": " + kind.label + ", " + detail;
  }
}
