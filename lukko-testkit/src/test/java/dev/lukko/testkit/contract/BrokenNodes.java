package dev.lukko.testkit.contract;

import dev.lukko.spi.Capability;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.ForwardingNode;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantReply.Refused;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.testkit.SoleFleet;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The contract on nodes that each have one defect of those that are found in practice. {@link
 * BrokenNodesTest} runs them, nobody else.
 */
final class BrokenNodes {
  private BrokenNodes() {}

  private static <T> T now(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }

  private static GrantRequest with(GrantRequest request, LockEntry entry) {
    return new GrantRequest(entry, request.ttlMillis(), request.proposal(), request.ticket());
  }

  private static LockEntry with(LockEntry entry, String owner) {
    return new LockEntry(entry.resources(), owner, entry.shared(), entry.seen());
  }

  /** Deletes the entry, whoever has it. */
  static class ReleasesWithoutComparing extends DefectContract {
    private final Map<String, LockEntry> holders = new ConcurrentHashMap<>();

    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        @Override
        public CompletionStage<GrantReply> grant(GrantRequest request) {
          CompletionStage<GrantReply> reply = node().grant(request);
          if (now(reply) instanceof Granted) {
            LockEntry entry = request.entry();
            entry.resources().forEach(each -> holders.put(each, entry));
          }
          return reply;
        }

        @Override
        public CompletionStage<ReleaseReply> release(LockEntry entry) {
          return node().release(holders.getOrDefault(entry.resources().get(0), entry));
        }
      };
    }
  }

  /** Says that several resources were held if one of them was. */
  static class ReleasesWhatIsLeft extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        @Override
        public CompletionStage<ReleaseReply> release(LockEntry entry) {
          boolean held = false;
          for (String name : entry.resources()) {
            LockEntry one = new LockEntry(List.of(name), entry.owner(), entry.shared());
            held |= now(node().release(one)) instanceof ReleaseReply.Released;
          }
          return CompletableFuture.completedFuture(
              held ? new ReleaseReply.Released() : new ReleaseReply.NotHeld());
        }
      };
    }
  }

  /** Writes the entry anew, there or not. */
  static class CreatesByExtending extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        @Override
        public CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis) {
          return node().repair(entry, ttlMillis, 1, Long.MAX_VALUE);
        }
      };
    }
  }

  /** Answers with what was proposed, whatever the counter is. */
  static class TakesAnyProposal extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        @Override
        public CompletionStage<GrantReply> grant(GrantRequest request) {
          return node()
              .grant(request)
              .thenApply(
                  reply -> reply instanceof Granted ? new Granted(request.proposal()) : reply);
        }
      };
    }
  }

  /** Knows an owner by its first characters. */
  static class ComparesPrefixes extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new OwnerMangler(memory, owner -> cut(owner));
    }

    private static String cut(String owner) {
      return owner.substring(0, Math.min(owner.length(), 12));
    }
  }

  /** Compares owners as many databases compare texts by default. */
  static class IgnoresCaseAndTrailingBlanks extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new OwnerMangler(memory, owner -> owner.stripTrailing().toLowerCase(Locale.ROOT));
    }
  }

  /** Changes the owner in every request. */
  private static final class OwnerMangler extends ForwardingNode {
    private final java.util.function.UnaryOperator<String> mangle;

    OwnerMangler(LockNode node, java.util.function.UnaryOperator<String> mangle) {
      super(node);
      this.mangle = mangle;
    }

    private LockEntry mangled(LockEntry entry) {
      return with(entry, mangle.apply(entry.owner()));
    }

    @Override
    public CompletionStage<GrantReply> grant(GrantRequest request) {
      return node().grant(with(request, mangled(request.entry())));
    }

    @Override
    public CompletionStage<ConfirmReply> confirm(LockEntry entry, long counter) {
      return node().confirm(mangled(entry), counter);
    }

    @Override
    public CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis) {
      return node().extend(mangled(entry), ttlMillis);
    }

    @Override
    public CompletionStage<ExtendReply> repair(
        LockEntry entry, long ttlMillis, long counter, long lastMillis) {
      return node().repair(mangled(entry), ttlMillis, counter, lastMillis);
    }

    @Override
    public CompletionStage<ReleaseReply> release(LockEntry entry) {
      return node().release(mangled(entry));
    }
  }

  /** Raises the counter, whoever holds. */
  static class ConfirmsForAnybody extends DefectContract {
    private final Map<String, LockEntry> holders = new ConcurrentHashMap<>();

    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        @Override
        public CompletionStage<GrantReply> grant(GrantRequest request) {
          CompletionStage<GrantReply> reply = node().grant(request);
          if (now(reply) instanceof Granted) {
            holders.put(request.entry().resources().get(0), request.entry());
          }
          return reply;
        }

        @Override
        public CompletionStage<ConfirmReply> confirm(LockEntry entry, long counter) {
          LockEntry holder = holders.getOrDefault(entry.resources().get(0), entry);
          return node().confirm(holder, counter);
        }
      };
    }
  }

  /** Says yes to a number that the counter has reached already. */
  static class ConfirmsAnyNumber extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        @Override
        public CompletionStage<ConfirmReply> confirm(LockEntry entry, long counter) {
          return node()
              .confirm(entry, counter)
              .thenApply(
                  reply ->
                      reply instanceof ConfirmReply.Higher && counter > 1
                          ? new ConfirmReply.Confirmed()
                          : reply);
        }
      };
    }
  }

  /** A repeated request counts as a new one. */
  static class RaisesForARepeatedRequest extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        @Override
        public CompletionStage<GrantReply> grant(GrantRequest request) {
          LockEntry entry = request.entry();
          if (now(node().confirm(entry, 1)) instanceof ConfirmReply.Higher higher) {
            long next = Math.max(request.proposal(), higher.counter() + 1);
            now(node().confirm(entry, next));
            return CompletableFuture.completedFuture(new Granted(next));
          }
          return node().grant(request);
        }
      };
    }
  }

  /** A repeated request prolongs the entry. */
  static class ProlongsForARepeatedRequest extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        @Override
        public CompletionStage<GrantReply> grant(GrantRequest request) {
          now(node().extend(request.entry(), request.ttlMillis()));
          return node().grant(request);
        }
      };
    }
  }

  /** Takes several resources one after the other, and keeps those before the first refusal. */
  static class TakesSeveralOneByOne extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        @Override
        public CompletionStage<GrantReply> grant(GrantRequest request) {
          LockEntry entry = request.entry();
          GrantReply last = null;
          for (String name : entry.resources()) {
            LockEntry one = new LockEntry(List.of(name), entry.owner(), false, entry.seen());
            last = now(node().grant(with(request, entry.shared() ? entry : one)));
            if (last instanceof Refused) {
              break;
            }
          }
          return CompletableFuture.completedFuture(last);
        }
      };
    }
  }

  /** Looks first and writes afterwards: two steps. */
  static class LooksBeforeItWrites extends LockNodeContract {
    @Override
    protected StoreUnderTest openStore() {
      java.util.concurrent.CyclicBarrier both = new java.util.concurrent.CyclicBarrier(2);
      return new MemoryStore(
          memory ->
              new ForwardingNode(memory) {
                @Override
                public CompletionStage<GrantReply> grant(GrantRequest request) {
                  boolean free =
                      now(node().inspect(request.entry().resources().get(0))).holders().isEmpty();
                  if (!free || !Thread.currentThread().getName().startsWith("lukko-contract")) {
                    return node().grant(request);
                  }
                  try {
                    both.await(5, java.util.concurrent.TimeUnit.SECONDS);
                  } catch (Exception alone) {
                    return node().grant(request);
                  }
                  CompletionStage<GrantReply> reply = node().grant(request);
                  return now(reply) instanceof Refused refused
                      ? CompletableFuture.completedFuture(new Granted(refused.counter()))
                      : reply;
                }
              });
    }
  }

  /** Remembers the entry that was granted last for each resource. */
  private abstract static class KnowsHolders extends ForwardingNode {
    private final Map<String, LockEntry> holders = new ConcurrentHashMap<>();

    KnowsHolders(LockNode node) {
      super(node);
    }

    LockEntry holderInPlaceOf(LockEntry entry) {
      return holders.getOrDefault(entry.resources().get(0), entry);
    }

    @Override
    public CompletionStage<GrantReply> grant(GrantRequest request) {
      GrantReply reply = now(node().grant(request));
      if (reply instanceof Granted) {
        request.entry().resources().forEach(each -> holders.put(each, request.entry()));
      }
      return CompletableFuture.completedFuture(reply);
    }
  }

  /** Grants what another holds. */
  static class GrantsWhatAnotherHolds extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        @Override
        public CompletionStage<GrantReply> grant(GrantRequest request) {
          return node()
              .grant(request)
              .thenApply(
                  reply ->
                      reply instanceof Refused refused
                          ? new Granted(refused.counter() + 1)
                          : reply);
        }
      };
    }
  }

  /** Lets readers in while a writer holds. */
  static class LetsReadersPassWriters extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new Passing(memory, true);
    }
  }

  /** Lets a writer in while readers hold. */
  static class LetsWritersPassReaders extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new Passing(memory, false);
    }
  }

  /** Grants to one mode what the other one holds. */
  private static final class Passing extends KnowsHolders {
    private final boolean shared;

    Passing(LockNode node, boolean shared) {
      super(node);
      this.shared = shared;
    }

    @Override
    public CompletionStage<GrantReply> grant(GrantRequest request) {
      boolean passes =
          request.entry().shared() == shared && holderInPlaceOf(request.entry()).shared() != shared;
      return super.grant(request)
          .thenApply(
              reply ->
                  passes && reply instanceof Refused refused
                      ? new Granted(refused.counter() + 1)
                      : reply);
    }
  }

  /** Extends the entry, whoever has it. */
  static class ExtendsForAnybody extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new KnowsHolders(memory) {
        @Override
        public CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis) {
          return node().extend(holderInPlaceOf(entry), ttlMillis);
        }
      };
    }
  }

  /** Puts an entry back in the place of another one. */
  static class RepairsWhatAnotherHolds extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new KnowsHolders(memory) {
        @Override
        public CompletionStage<ExtendReply> repair(
            LockEntry entry, long ttlMillis, long counter, long lastMillis) {
          now(node().release(holderInPlaceOf(entry)));
          return node().repair(entry, ttlMillis, counter, lastMillis);
        }
      };
    }
  }

  /** Puts an entry back however long the request was on its way. */
  static class RepairsAtAnyTime extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        @Override
        public CompletionStage<ExtendReply> repair(
            LockEntry entry, long ttlMillis, long counter, long lastMillis) {
          return node().repair(entry, ttlMillis, counter, Long.MAX_VALUE);
        }
      };
    }
  }

  /** Says that an entry is missing, and not when it looked. */
  static class TellsNoTime extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        @Override
        public CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis) {
          return node()
              .extend(entry, ttlMillis)
              .thenApply(
                  reply ->
                      reply instanceof ExtendReply.Missing
                          ? new ExtendReply.Missing(Long.MIN_VALUE / 2)
                          : reply);
        }
      };
    }
  }

  /** Puts an entry back and leaves the counter behind its token. */
  static class RepairsWithoutRaising extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        @Override
        public CompletionStage<ExtendReply> repair(
            LockEntry entry, long ttlMillis, long counter, long lastMillis) {
          return node().repair(entry, ttlMillis, 1, lastMillis);
        }
      };
    }
  }

  /** Ends entries before their time. */
  static class EndsEntriesEarly extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        @Override
        public CompletionStage<GrantReply> grant(GrantRequest request) {
          return node()
              .grant(
                  new GrantRequest(
                      request.entry(),
                      Math.max(1, request.ttlMillis() / 2),
                      request.proposal(),
                      request.ticket()));
        }
      };
    }
  }

  /** Takes the name that it was given for the identity of its store. */
  static class IdentifiesItselfByName extends LockNodeContract {
    @Override
    protected StoreUnderTest openStore() {
      LockNode memory = new dev.lukko.memory.InMemoryNode("folder");
      return new StoreUnderTest() {
        @Override
        public LockNode openNode() {
          return openNode("own");
        }

        @Override
        public LockNode openNode(String name) {
          return new ForwardingNode(memory) {
            @Override
            public String name() {
              return name;
            }

            @Override
            public CompletionStage<NodeStatus> status() {
              return CompletableFuture.completedFuture(NodeStatus.voting(name));
            }
          };
        }

        @Override
        public Set<StoreTrait> traits() {
          return EnumSet.of(StoreTrait.NAMES_NODES);
        }
      };
    }
  }

  /** Votes though it has forgotten everything. */
  static class VotesAfterForgetting extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        @Override
        public CompletionStage<GrantReply> grant(GrantRequest request) {
          SoleFleet.admit(node());
          return SoleFleet.grant(node(), request);
        }
      };
    }
  }

  /** Settles a number though the fleet has moved on since its grant. */
  static class SettlesInAnyEpoch extends LockNodeContract {
    @Override
    protected StoreUnderTest openStore() {
      return new MemoryStore(
          memory ->
              new ForwardingNode(memory) {
                @Override
                public CompletionStage<ConfirmReply> confirm(LockEntry entry, long number) {
                  return node().confirm(entry.seen(""), number);
                }
              });
    }
  }

  /** Puts an entry back though the fleet has moved on. */
  static class RepairsInAnyEpoch extends LockNodeContract {
    @Override
    protected StoreUnderTest openStore() {
      return new MemoryStore(
          memory ->
              new ForwardingNode(memory) {
                @Override
                public CompletionStage<ExtendReply> repair(
                    LockEntry entry, long ttlMillis, long counter, long lastMillis) {
                  return node().repair(entry.seen(""), ttlMillis, counter, lastMillis);
                }
              });
    }
  }

  /** Serves whoever comes first. */
  static class IgnoresTheLine extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        @Override
        public CompletionStage<GrantReply> grant(GrantRequest request) {
          return node()
              .grant(
                  new GrantRequest(request.entry(), request.ttlMillis(), request.proposal(), null));
        }
      };
    }
  }

  /** Throws instead of answering, after its end. */
  static class ThrowsAfterClose extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        private volatile boolean closed;

        @Override
        public CompletionStage<GrantReply> grant(GrantRequest request) {
          if (closed) {
            throw new IllegalStateException("closed");
          }
          return node().grant(request);
        }

        @Override
        public void close() {
          closed = true;
        }
      };
    }
  }

  /** Leaves a thread behind. */
  static class LeavesAThread extends LockNodeContract {
    static final java.util.concurrent.CountDownLatch END =
        new java.util.concurrent.CountDownLatch(1);

    @Override
    protected StoreUnderTest openStore() {
      return new MemoryStore(
          memory -> {
            Thread left =
                new Thread(
                    () -> {
                      try {
                        END.await();
                      } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                      }
                    },
                    "left-behind");
            left.setDaemon(true);
            left.start();
            return new ForwardingNode(memory) {};
          });
    }
  }

  /**
   * Can do no more than an exclusive lock on one resource, and declares no more; it is not broken.
   */
  static class Plain extends LockNodeContract {
    @Override
    protected StoreUnderTest openStore() {
      LockNode memory = new dev.lukko.memory.InMemoryNode();
      return () ->
          new ForwardingNode(memory) {
            @Override
            public Set<Capability> capabilities() {
              return Set.of();
            }

            @Override
            public void leave(LockEntry entry, FairTicket ticket) {
              throw new AssertionError("there is no line");
            }
          };
    }
  }
}
