package dev.lukko.bench.soak;

import dev.lukko.redis.RedisNode;
import dev.lukko.redlock.Redlock;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * A client process: acquires the lock, adds to the set, and tells on its output what it was told.
 * The line {@code stop} on its input makes it finish and close; the end of its input ends it.
 */
final class SoakClient {
  private static final Duration SET_TIMEOUT = Duration.ofMillis(700);

  private SoakClient() {}

  /**
   * Runs a client.
   *
   * @param arguments mode, name, seed, address of the set, addresses of the nodes
   */
  public static void main(String[] arguments) throws IOException {
    // What the driver says of broken connections is what this is about.
    Logger.getLogger("").setLevel(Level.SEVERE);
    SoakMode mode = SoakMode.valueOf(arguments[0]);
    String name = arguments[1];
    long seed = Long.parseLong(arguments[2]);
    RedisURI set = RedisURI.create(arguments[3]);
    List<String> nodes = List.of(arguments).subList(4, arguments.length);
    Teller teller = new Teller(System.out);
    RedisClient driver = RedisClient.create();
    try (StatefulRedisConnection<String, String> connection = driver.connect(set);
        Redlock locks =
            Redlock.builder()
                .nodes(RedisNode.builder().connectAll(nodes))
                .maxTtl(SoakPlan.MAX_TTL)
                .nodeTimeout(SoakPlan.NODE_TIMEOUT)
                .description(name)
                .build()) {
      connection.setTimeout(SET_TIMEOUT);
      Pages pages =
          mode == SoakMode.FENCED
              ? Pages.fenced(connection.sync())
              : Pages.plain(connection.sync());
      Adder adder = new Adder(name, seed, mode, locks, new PagedSet(pages), teller);
      listen(adder);
      teller.say(Said.READY);
      adder.run();
    } finally {
      driver.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }
    teller.say(Said.CLOSED);
    System.exit(0);
  }

  private static void listen(Adder adder) {
    Thread orders =
        new Thread(
            () -> {
              try {
                BufferedReader in =
                    new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
                if ("stop".equals(in.readLine())) {
                  adder.stop();
                  in.readLine();
                }
              } catch (IOException brokenPipe) {
                System.err.println("the soak is gone: " + brokenPipe);
              }
              Runtime.getRuntime().halt(0);
            },
            "lukko-soak-orders");
    orders.setDaemon(true);
    orders.start();
  }
}
