package dev.lukko;

import dev.lukko.text.Printable;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Something that happened to a lock or to a node, as a {@link LockListener} sees it. */
public sealed interface LockEvent {

  /** An event that concerns locked names. */
  sealed interface OfResources extends LockEvent {
    /** The names concerned, sorted. */
    List<String> resources();
  }

  /**
   * A lease was granted.
   *
   * @param fencingToken its token
   * @param waited how long the call took, rounds and waits together
   * @param rounds how many rounds were made
   * @param validity how long the lease was valid when it was granted
   */
  record Acquired(
      List<String> resources, long fencingToken, Duration waited, int rounds, Duration validity)
      implements OfResources {}

  /**
   * A round found the lock held by another.
   *
   * @param holder who holds it, if a node told
   */
  record Contended(List<String> resources, Optional<Holder> holder) implements OfResources {}

  /**
   * A call that had to wait has ended.
   *
   * @param waited how long it took
   * @param acquired whether it got the lock in the end
   */
  record Waited(List<String> resources, Duration waited, boolean acquired) implements OfResources {}

  /**
   * A quorum extended a lease.
   *
   * @param fencingToken its token
   * @param remaining how long it is valid now
   */
  record Extended(List<String> resources, long fencingToken, Duration remaining)
      implements OfResources {}

  /**
   * An extension was not confirmed by a quorum; the lease stays valid until its present end.
   *
   * @param fencingToken its token
   * @param remaining how long it is still valid
   * @param answers what the nodes answered
   */
  record ExtensionFailed(
      List<String> resources, long fencingToken, Duration remaining, List<NodeAnswer> answers)
      implements OfResources {}

  /**
   * A lease was lost before it was released.
   *
   * @param fencingToken its token
   * @param reason why
   */
  record Lost(List<String> resources, long fencingToken, LossReason reason)
      implements OfResources {}

  /**
   * A lease became unreachable without having been released, and nobody is to hear of its loss; it
   * is no longer extended, and ends by its ttl.
   *
   * @param fencingToken its token
   * @param acquiredAt where it was acquired, if the client was told to keep that
   */
  record Leaked(List<String> resources, long fencingToken, Optional<Throwable> acquiredAt)
      implements OfResources {}

  /**
   * Threads of this client wait for each other in a circle.
   *
   * @param resources what the call that closed the circle waits for
   * @param description who holds what and waits for what, as a sentence
   */
  record DeadlockSuspected(List<String> resources, String description) implements OfResources {}

  /**
   * A lease was released.
   *
   * @param fencingToken its token
   * @param held how long it had been held
   * @param outcome what the nodes answered
   */
  record Released(List<String> resources, long fencingToken, Duration held, ReleaseOutcome outcome)
      implements OfResources {}

  /**
   * A node serves another fleet as well, as when two clients list different nodes: locks of the two
   * do not exclude each other.
   *
   * @param node the node's name
   * @param fleet the client's fleet
   * @param size how many nodes that has
   * @param otherFleet the other fleet
   * @param otherSize how many nodes that has
   * @param detail the same with the members of both, human-readable
   */
  record FleetsOverlap(
      String node, String fleet, int size, String otherFleet, int otherSize, String detail)
      implements LockEvent {

    public FleetsOverlap {
      otherFleet = Printable.of(otherFleet);
      detail = Printable.of(detail);
    }
  }

  /**
   * The client's fleet has other nodes than the client lists: its set was changed, or the list is
   * wrong.
   *
   * @param fleet the client's fleet
   * @param size how many nodes that has
   * @param nodes how many the client lists
   * @param lacking the ids of nodes that none of the client's addresses leads to, as far as is
   *     known
   * @param surplus the names of the client's nodes that have no vote, since they are no members
   * @param detail the same, human-readable
   */
  record NodesDiffer(
      String fleet, int size, int nodes, List<String> lacking, List<String> surplus, String detail)
      implements LockEvent {
    public NodesDiffer {
      lacking = List.copyOf(lacking);
      surplus = List.copyOf(surplus);
    }
  }

  /**
   * A node began or ceased to take part.
   *
   * @param node the node's name
   * @param available whether it takes part now
   * @param detail why
   */
  record NodeStateChanged(String node, boolean available, String detail) implements LockEvent {

    public NodeStateChanged {
      detail = Printable.of(detail);
    }
  }

  /**
   * Something about a node weakens what the lock promises, as it was found when the client was
   * built; it is in the log as well, and a strict client is refused for it.
   *
   * @param node the node's name
   * @param detail what it is
   */
  record NodeWarned(String node, String detail) implements LockEvent {

    public NodeWarned {
      detail = Printable.of(detail);
    }
  }

  /**
   * Events are missing in this place: the listeners were slower than the events came.
   *
   * @param count how many were dropped
   */
  record EventsDropped(long count) implements LockEvent {}
}
