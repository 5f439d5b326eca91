package dev.lukko.redis.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.redis.protocol.RedisAddress.Place;
import dev.lukko.testkit.ManualTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The addresses that the servers of a cluster have named. */
class ClusterAddressesTest {
  private static final Place SEED = new Place("seed", 6379);
  private static final Place GONE = new Place("gone", 6379);

  private final ManualTime time = new ManualTime();
  private final ConcurrentMap<Place, AtomicInteger> attempts = new ConcurrentHashMap<>();
  private final ClusterLink cluster = new ClusterLink(this::connect, List.of(SEED));

  @AfterEach
  void close() {
    cluster.close();
  }

  private RedisLink connect(Place place, RedisLink.Cluster owner) {
    AtomicInteger count = attempts.computeIfAbsent(place, unseen -> new AtomicInteger());
    RedisLink link =
        new RedisLink(
            new FakeConnector(count::incrementAndGet),
            false,
            owner,
            time,
            place.toString(),
            "marker",
            Duration.ofSeconds(1),
            Duration.ofSeconds(10));
    link.connect();
    return link;
  }

  private int attempts(Place place) {
    return attempts.get(place).get();
  }

  @Test
  void oneThatCannotBeReachedForLongIsForgottenUnlessItWasGivenByTheCaller() {
    cluster.connect();
    cluster.onReplica(GONE);
    time.advance(Duration.ofSeconds(5));
    assertThat(cluster.places()).containsExactly(SEED, GONE);

    time.advance(Duration.ofMinutes(1));

    assertThat(cluster.places()).containsExactly(SEED);
    int tried = attempts(GONE);
    int triedSeed = attempts(SEED);
    time.advance(Duration.ofMinutes(1));
    assertThat(attempts(GONE)).isEqualTo(tried);
    assertThat(attempts(SEED)).isGreaterThan(triedSeed);
  }

  @Test
  void oneThatIsNamedAgainIsTriedAgain() {
    cluster.connect();
    cluster.onReplica(GONE);
    time.advance(Duration.ofMinutes(2));
    int tried = attempts(GONE);

    cluster.onReplica(GONE);
    time.advance(Duration.ofSeconds(1));

    assertThat(cluster.places()).containsExactly(SEED, GONE);
    assertThat(attempts(GONE)).isGreaterThan(tried);
  }
}
