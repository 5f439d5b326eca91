package dev.lukko.testkit.contract;

import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.ForwardingNode;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantReply.Granted;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The contract on nodes that each lack one of the conditions on the numbers that writers and
 * readers get. {@link BrokenNodesTest} runs them.
 */
final class BrokenReaders {
  private BrokenReaders() {}

  private static <T> T now(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }

  /** The counter of the entry's first resource. */
  private static long counter(LockNode node, LockEntry entry) {
    return now(node.inspect(entry.resources().get(0))).counter().orElse(0);
  }

  /** A confirmation to a writer has to raise the counter. */
  static class RefusesAnEqualNumber extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        @Override
        public CompletionStage<ConfirmReply> confirm(LockEntry entry, long number) {
          return !entry.shared() && counter(node(), entry) == number
              ? CompletableFuture.completedFuture(new ConfirmReply.Higher(number))
              : node().confirm(entry, number);
        }
      };
    }
  }

  /** Every reader gets a number of its own. */
  static class RaisesForEachReader extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        @Override
        public CompletionStage<GrantReply> grant(GrantRequest request) {
          LockEntry entry = request.entry();
          long before = counter(node(), entry);
          GrantReply reply = now(node().grant(request));
          if (entry.shared() && reply instanceof Granted granted && before > 0) {
            long next = Math.max(granted.counter(), before + 1);
            now(node().confirm(entry, next));
            reply = new Granted(next);
          }
          return CompletableFuture.completedFuture(reply);
        }
      };
    }
  }

  /** "Raise to at least this number while my entry stands", without a look at the entry's own. */
  static class ConfirmsBelowTheOwnNumber extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        @Override
        public CompletionStage<ConfirmReply> confirm(LockEntry entry, long number) {
          return node()
              .confirm(entry, number)
              .thenApply(
                  reply ->
                      entry.shared() && reply instanceof ConfirmReply.Higher
                          ? new ConfirmReply.Confirmed()
                          : reply);
        }
      };
    }
  }

  /** Agrees to a reader's number and leaves the counter below it. */
  static class ConfirmsWithoutRaising extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new ForwardingNode(memory) {
        @Override
        public CompletionStage<ConfirmReply> confirm(LockEntry entry, long number) {
          return node()
              .confirm(entry, entry.shared() ? 1 : number)
              .thenApply(
                  reply ->
                      reply instanceof ConfirmReply.Higher higher
                              && entry.shared()
                              && higher.counter() <= number
                          ? new ConfirmReply.Confirmed()
                          : reply);
        }
      };
    }
  }

  /** Gives a reader the counter as it is, though it is a certain number that none may have. */
  private abstract static class Joining extends ForwardingNode {
    final Map<String, Long> wronglyJoined = new ConcurrentHashMap<>();

    Joining(LockNode node) {
      super(node);
    }

    void join(LockEntry entry, long number) {
      entry.resources().forEach(resource -> wronglyJoined.put(resource, number));
    }

    @Override
    public CompletionStage<GrantReply> grant(GrantRequest request) {
      LockEntry entry = request.entry();
      long before = counter(node(), entry);
      boolean joins =
          entry.shared() && wronglyJoined.getOrDefault(entry.resources().get(0), 0L) == before;
      return node()
          .grant(request)
          .thenApply(reply -> reply instanceof Granted && joins ? new Granted(before) : reply);
    }
  }

  /** A writer's grant leaves the readers' mark at the counter. */
  static class JoinsAWritersGrant extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new Joining(memory) {
        @Override
        public CompletionStage<GrantReply> grant(GrantRequest request) {
          CompletionStage<GrantReply> reply = super.grant(request);
          if (now(reply) instanceof Granted granted && !request.entry().shared()) {
            join(request.entry(), granted.counter());
          }
          return reply;
        }
      };
    }
  }

  /** A writer's confirmation sets the readers' mark. */
  static class JoinsAWritersConfirmation extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new Joining(memory) {
        @Override
        public CompletionStage<ConfirmReply> confirm(LockEntry entry, long number) {
          if (!entry.shared()) {
            join(entry, number);
          }
          return node().confirm(entry, number);
        }
      };
    }
  }

  /** The repair of a reader's entry sets the readers' mark, as its grant does. */
  static class JoinsARepair extends DefectContract {
    @Override
    LockNode broken(LockNode memory) {
      return new Joining(memory) {
        @Override
        public CompletionStage<ExtendReply> repair(
            LockEntry entry, long ttlMillis, long counter, long lastMillis) {
          if (entry.shared()) {
            join(entry, counter);
          }
          return node().repair(entry, ttlMillis, counter, lastMillis);
        }
      };
    }
  }
}
