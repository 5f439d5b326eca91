package dev.lukko.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.lukko.testkit.MalformedAddresses;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** No address is repeated as it was given: nobody can tell where in it the password is. */
class MalformedAddressesTest {

  @Test
  void passwordOfAnAddressThatCannotBeReadIsNotShown() {
    for (String address : MalformedAddresses.thousand()) {
      List<Consumer<RedisNodeBuilder>> doors =
          List.of(
              builder -> builder.connect(address),
              builder -> builder.connectAll(List.of(address)),
              builder -> builder.probe(address));
      for (Consumer<RedisNodeBuilder> door : doors) {
        assertThatIllegalArgumentException()
            .as(address)
            .isThrownBy(() -> door.accept(RedisNode.builder()))
            .satisfies(
                refused -> {
                  StringWriter trace = new StringWriter();
                  refused.printStackTrace(new PrintWriter(trace, true));
                  assertThat(MalformedAddresses.isSeenIn(trace.toString()))
                      .as(refused.getMessage())
                      .isFalse();
                });
      }
    }
  }
}
