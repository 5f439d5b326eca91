package dev.lukko.scorecard.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A client process. Each line of its input is a question, and answered by one line.
 *
 * <pre>
 * lock NAME          held TOKEN, busy, or failed CAUSE      tries once
 * wait NAME MILLIS   the same, or unsupported               waits
 * other NAME         the same                               tries once in another thread
 * unlock             done, or failed CAUSE
 * held               yes, no, unsupported, or failed CAUSE
 * </pre>
 *
 * <p>The line {@code lost} comes unasked, if the library tells of a loss. The end of the input ends
 * the process.
 */
final class Client {
  private final Locks locks;
  private final ExecutorService other = Executors.newSingleThreadExecutor();
  private Locks.@Nullable Held held;

  private Client(Locks locks) {
    this.locks = locks;
  }

  /**
   * Runs a client.
   *
   * @param arguments library, ttl in milliseconds, addresses of the servers
   */
  public static void main(String[] arguments) throws IOException {
    Logger.getLogger("").setLevel(Level.OFF);
    List<String> urls = List.of(arguments).subList(2, arguments.length);
    Duration ttl = Duration.ofMillis(Long.parseLong(arguments[1]));
    PrintStream out = System.out;
    Client client = new Client(open(arguments[0], urls, ttl, () -> say(out, "lost")));
    say(out, "ready");
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      say(out, client.answer(line.split(" ", -1)));
    }
    // What is held is not given back: the end of the input is the end of the experiment.
    Runtime.getRuntime().halt(0);
  }

  private static void say(PrintStream out, String line) {
    synchronized (out) {
      out.println(line);
      out.flush();
    }
  }

  private static Locks open(String library, List<String> urls, Duration ttl, Runnable lost) {
    return switch (library) {
      case "lukko" -> new LukkoLocks(urls, ttl, lost);
      case "redisson" -> new RedissonLocks(RedissonLocks.Kind.PLAIN, urls, ttl);
      case "redisson-fenced" -> new RedissonLocks(RedissonLocks.Kind.FENCED, urls, ttl);
      case "redisson-redlock" -> new RedissonLocks(RedissonLocks.Kind.QUORUM, urls, ttl);
      case "shedlock-redis" -> ShedLocks.redis(spring(urls.get(0)), ttl);
      case "shedlock-jdbc" -> ShedLocks.jdbc(urls.get(0), ttl);
      case "spring-integration" -> new SpringLocks(spring(urls.get(0)), ttl);
      default -> throw new IllegalArgumentException("library is '" + library + "'");
    };
  }

  private static LettuceConnectionFactory spring(String url) {
    URI uri = URI.create(url);
    LettuceConnectionFactory connections =
        new LettuceConnectionFactory(uri.getHost(), uri.getPort());
    connections.afterPropertiesSet();
    connections.start();
    return connections;
  }

  private String answer(String[] words) {
    try {
      return switch (words[0]) {
        case "lock" -> keep(locks.tryLock(words[1]));
        case "wait" -> keep(locks.lock(words[1], Long.parseLong(words[2])));
        case "other" -> inOtherThread(words[1]);
        case "unlock" -> {
          required().unlock();
          yield "done";
        }
        case "held" -> required().isHeld().map(yes -> yes ? "yes" : "no").orElse("unsupported");
        default -> throw new IllegalArgumentException("no question: " + words[0]);
      };
    } catch (UnsupportedOperationException noSuchCall) {
      return "unsupported";
    } catch (Exception failure) {
      return "failed " + cause(failure);
    }
  }

  private String keep(Optional<Locks.Held> granted) {
    if (granted.isEmpty()) {
      return "busy";
    }
    held = granted.get();
    return "held " + held.token().map(String::valueOf).orElse("-");
  }

  private String inOtherThread(String name) throws Exception {
    try {
      return other.submit(() -> locks.tryLock(name).isPresent() ? "held -" : "busy").get();
    } catch (ExecutionException failure) {
      return "failed " + cause(failure.getCause() == null ? failure : failure.getCause());
    }
  }

  private Locks.Held required() {
    Locks.Held current = held;
    if (current == null) {
      throw new IllegalStateException("nothing was held");
    }
    return current;
  }

  private static String cause(Throwable failure) {
    return failure.getClass().getSimpleName();
  }
}
