package dev.lukko.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.Provider;
import java.security.SecureRandom;
import java.security.SecureRandomSpi;
import java.security.Security;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Processes that were restored from one snapshot share whatever their generators have in store. */
class OwnersOfClonesTest {
  private static final Provider CLONED = new ClonedProvider();

  @BeforeEach
  void restoreFromTheSnapshot() {
    Security.insertProviderAt(CLONED, 1);
  }

  @AfterEach
  void removeTheProvider() {
    Security.removeProvider(CLONED.getName());
  }

  @Test
  void clonesWhoseGeneratorsShareTheirStateNeverShareAnOwner() {
    StillTime time = StillTime.INSTANCE;
    assertThat(new SecureRandom().nextLong()).isEqualTo(new SecureRandom().nextLong());
    Owners one = new Owners(Entropy.system().owners(), time);
    Owners other = new Owners(Entropy.system().owners(), time);
    for (int i = 0; i < 100; i++) {
      assertThat(one.next("4711@web-1/main")).isNotEqualTo(other.next("4711@web-1/main"));
    }
  }

  /** The platform's preferred generator, as each of the clones finds it. */
  private static final class ClonedProvider extends Provider {
    private static final long serialVersionUID = 1L;

    ClonedProvider() {
      super("Cloned", "1", "the same numbers in every clone");
      put("SecureRandom.Cloned", ClonedState.class.getName());
    }
  }

  /** A generator whose state was in the snapshot. */
  public static final class ClonedState extends SecureRandomSpi {
    private static final long serialVersionUID = 1L;
    private byte next;

    @Override
    protected void engineSetSeed(byte[] seed) {}

    @Override
    protected void engineNextBytes(byte[] bytes) {
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = next++;
      }
    }

    @Override
    protected byte[] engineGenerateSeed(int count) {
      byte[] bytes = new byte[count];
      engineNextBytes(bytes);
      return bytes;
    }
  }
}
