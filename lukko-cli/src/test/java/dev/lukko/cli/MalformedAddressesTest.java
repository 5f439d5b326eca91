package dev.lukko.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.testkit.MalformedAddresses;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** No address is repeated as it was given: nobody can tell where in it the password is. */
class MalformedAddressesTest {

  @Test
  void passwordOfAnAddressThatCannotBeReadIsNotShown() {
    int turn = 0;
    for (String address : MalformedAddresses.thousand()) {
      List<Invocation> doors =
          switch (turn++ % 5) {
            case 0 -> List.of(Invocation.of("status", "--node", address, "r"));
            case 1 -> List.of(Invocation.of("doctor", "--json", "--node", address));
            case 2 -> List.of(Invocation.of("run", "--node=" + address, "r", "--", "true"));
            case 3 -> // what blanks part may be addresses that can be read
                List.of(
                    Invocation.with(
                        Map.of("LUKKO_NODES", address.replaceAll("\\s", "\\\\")), "status", "r"));
            default -> List.of(Invocation.of("demo", address), Invocation.of(address));
          };
      for (Invocation door : doors) {
        assertThat(door.exitCode()).as(address).isEqualTo(64);
        assertThat(MalformedAddresses.isSeenIn(door.out() + door.err())).as(door.err()).isFalse();
        assertThat(door.err().lines()).as(address).hasSizeLessThanOrEqualTo(1);
      }
    }
  }
}
