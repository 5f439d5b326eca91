package dev.lukko.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.memory.InMemoryNode;
import dev.lukko.spi.LockNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RoundTest {
  private static final String SILENT = "no answer within 50 ms";

  private final List<LockNode> nodes =
      List.of(new InMemoryNode("n1"), new InMemoryNode("n2"), new InMemoryNode("n3"));
  private final List<CompletableFuture<String>> replies =
      List.of(new CompletableFuture<>(), new CompletableFuture<>(), new CompletableFuture<>());
  private final Question question = new Question();

  @Test
  void shouldTellADecisionOfTheTimeoutByWhatItWasMadeOn() {
    question.start(StillTime.INSTANCE);
    replies.get(0).complete("yes");
    question.expire();

    replies.get(1).complete("yes");

    assertThat(question.decisions).singleElement().matches(Tally::unreachable);
    assertThat(question.repliesInTime()).containsExactly("yes", SILENT, SILENT);
    assertThat(question.replies()).containsExactly("yes", "yes", SILENT);
    assertThat(question.lateOnes).containsExactly("n2: yes");
  }

  @Test
  void shouldTellADecisionOfTheNodesWithWhatCameSince() {
    question.start(StillTime.INSTANCE);
    replies.get(0).complete("yes");
    replies.get(1).complete("yes");

    replies.get(2).complete("no");
    question.expire();

    assertThat(question.decisions).singleElement().matches(Tally::won);
    assertThat(question.repliesInTime()).containsExactly("yes", "yes", "no");
  }

  @Test
  void shouldNotSpeakOfTheNodeTimeoutWhenTheCallWasOverBefore() {
    question.start(StillTime.INSTANCE);

    question.cutShort();

    assertThat(question.decisions).singleElement().matches(Tally::unreachable);
    assertThat(question.repliesInTime())
        .allMatch("no answer before the time of the call was over"::equals);
  }

  @Test
  void shouldSpeakOfTheNodeTimeoutWhenTheCallWasOverAfterIt() {
    question.start(StillTime.INSTANCE);
    question.expire();

    question.cutShort();

    assertThat(question.repliesInTime()).allMatch(SILENT::equals);
  }

  private final class Question extends Round<String> {
    final List<Tally> decisions = new ArrayList<>();
    final List<String> lateOnes = new ArrayList<>();

    Question() {
      super(nodes, Electorate.ofUnknown(3), 50_000_000);
    }

    @Override
    CompletionStage<String> ask(int index, LockNode node, @Nullable Patience patience) {
      return replies.get(index);
    }

    @Override
    String unknown(String detail, @Nullable Throwable cause) {
      return detail;
    }

    @Override
    Vote voteOf(String reply) {
      return reply.equals("yes") ? Vote.YES : reply.equals("no") ? Vote.NO : Vote.FAULT;
    }

    @Override
    void onDecided(Tally tally) {
      decisions.add(tally);
    }

    @Override
    void onMistake(Throwable mistake) {
      throw new AssertionError(mistake);
    }

    @Override
    void late(int index, String reply) {
      lateOnes.add(nodes.get(index).name() + ": " + reply);
    }
  }
}
