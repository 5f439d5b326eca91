package dev.lukko.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a driver says of a URL reaches nobody with the secrets in it, wherever in an error. */
class PrintableAddressTest {
  private static final String URL = "jdbc:postgresql://host/db?user=app&password=S3cret";

  /** An error that leads to further ones, as those of databases do. */
  private static final class Chained extends Exception implements Iterable<Throwable> {
    private final List<Throwable> chain;

    Chained(String message, Throwable next) {
      super(message);
      this.chain = List.of(this, next);
    }

    @Override
    public Iterator<Throwable> iterator() {
      return chain.iterator();
    }
  }

  static List<Exception> errorsThatTell() {
    Exception telling = new Exception("cannot read S3cret");
    Exception suppressing = new Exception("no connection");
    suppressing.addSuppressed(telling);
    return List.of(
        telling,
        new Exception("cannot read " + URL),
        new Exception("no connection", telling),
        new Exception("no connection", new Exception("refused", telling)),
        suppressing,
        new Chained("no connection", telling),
        new Exception("no connection", new Chained("refused", new Exception("or", telling))));
  }

  @ParameterizedTest
  @MethodSource("errorsThatTell")
  void errorThatRepeatsTheUrlIsReplacedByOneThatDoesNot(Exception failure) {
    Exception shown = PrintableAddress.without(failure, URL, Exception::new);

    assertThat(shown).isNotSameAs(failure).hasNoCause().hasNoSuppressedExceptions();
    assertThat(shown.getMessage()).doesNotContain("S3cret");
    assertThat(shown.getStackTrace()).isEqualTo(failure.getStackTrace());
  }

  @Test
  void errorWithoutTheUrlStaysAsItIs() {
    Exception first = new Exception("refused");
    Exception failure = new Exception("no connection", first);
    first.addSuppressed(failure); // and one that leads back to itself

    assertThat(PrintableAddress.without(failure, URL, Exception::new)).isSameAs(failure);
  }
}
