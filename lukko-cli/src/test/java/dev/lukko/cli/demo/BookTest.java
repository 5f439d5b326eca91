package dev.lukko.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.lukko.cli.demo.DemoResult.Counts;
import dev.lukko.fencing.InMemoryFence;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BookTest {

  @Test
  void everyPostingBeyondTheFirstIsADoubleCharge() {
    Book book = new Book(3, null);
    book.post(1, 0);
    book.post(2, 0);
    book.post(1, 0);
    book.post(1, 0);

    assertThat(book.audit()).isEqualTo(new Counts(3, 2, 2, 0, 0));
    assertThat(book.pending()).containsExactly(3);
    assertThat(book.isPosted(1)).isTrue();
    assertThat(book.isPosted(3)).isFalse();
  }

  @Test
  void aPostingBehindAHigherTokenIsStale() {
    Book book = new Book(1, null);
    book.post(1, 34);

    assertThat(book.post(1, 33)).isTrue();

    assertThat(book.audit()).isEqualTo(new Counts(1, 1, 1, 1, 0));
  }

  @Test
  void theFenceRefusesALowerTokenAndCountsIt() {
    Book book = new Book(2, new InMemoryFence());
    book.post(1, 34);

    assertThat(book.post(1, 33)).isFalse();
    assertThat(book.post(1, 34)).isTrue();
    assertThat(book.post(2, 33)).isTrue();

    assertThat(book.audit()).isEqualTo(new Counts(2, 2, 1, 0, 1));
  }

  @Test
  void aMilestoneRunsOnceWhenSoManyInvoicesArePosted() {
    Book book = new Book(3, null);
    List<Integer> seen = new ArrayList<>();
    book.at(2, () -> seen.add(book.audit().posted()));

    book.post(1, 0);
    book.post(1, 0);
    assertThat(seen).isEmpty();
    book.post(2, 0);
    book.post(3, 0);

    assertThat(seen).containsExactly(2);
  }

  @Test
  void anUnknownInvoiceIsRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> new Book(1, null).post(2, 0));
  }
}
