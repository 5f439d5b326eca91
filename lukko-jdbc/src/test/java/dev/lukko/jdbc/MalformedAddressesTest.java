package dev.lukko.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.lukko.testkit.MalformedAddresses;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No URL is repeated as it was given, neither by us nor by a driver that cannot read it. */
class MalformedAddressesTest {

  @Test
  void passwordOfAnAddressThatCannotBeReadIsNotShown() {
    for (String address : MalformedAddresses.thousand()) {
      for (String url : new String[] {address, "jdbc:unknown:" + address, "jdbc:" + address}) {
        Throwable refused = catchThrowable(() -> DriverDataSource.of(url).getConnection());
        assertThat(refused).as(url).isNotNull();
        StringWriter trace = new StringWriter();
        refused.printStackTrace(new PrintWriter(trace, true));
        assertThat(MalformedAddresses.isSeenIn(trace.toString())).as(trace.toString()).isFalse();
        assertThat(MalformedAddresses.isSeenIn(Addresses.of(url, 1))).as(url).isFalse();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:postgresql://127.0.0.1:1/db?user=app&password=S3cretW0rd",
        "jdbc:postgresql://app:S3cretW0rd@127.0.0.1:port/db",
        "jdbc:mariadb://127.0.0.1:1/db?user=app&password=S3cretW0rd&sslMode=nonsense",
        "jdbc:mysql://address=(host=127.0.0.1)(port=1)(password=S3cretW0rd)/db",
        "jdbc:h2:mem:x;IFEXISTS=TRUE;USER=a;PASSWORD=S3cretW0rd",
        "jdbc:sqlite:/nowhere/at/all/db?password=S3cretW0rd",
      })
  void driverThatRepeatsItsUrlDoesNotShowThePassword(String url) {
    Throwable refused = catchThrowable(() -> DriverDataSource.of(url).getConnection());
    assertThat(refused).isNotNull();
    StringWriter trace = new StringWriter();
    refused.printStackTrace(new PrintWriter(trace, true));
    assertThat(MalformedAddresses.isSeenIn(trace.toString())).as(trace.toString()).isFalse();
    assertThat(MalformedAddresses.isSeenIn(Addresses.of(url, 1))).isFalse();
  }
}
