package dev.lukko.jedis;

import dev.lukko.redis.protocol.ServerErrorException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.commands.ProtocolCommand;
import redis.clients.jedis.exceptions.JedisDataException;

/** One request on its way, and who waits for its reply. */
record Exchange(
    ProtocolCommand command,
    List<String> arguments,
    BiConsumer<@Nullable Object, @Nullable Throwable> then) {

  private static final System.Logger LOG = System.getLogger(Exchange.class.getName());

  /**
   * The reply as it came from the driver: bytes become texts.
   *
   * @return a text, a number, a list of such, or null
   */
  static @Nullable Object decoded(@Nullable Object reply) {
    if (reply instanceof byte[] bytes) {
      return new String(bytes, StandardCharsets.UTF_8);
    }
    if (reply instanceof List<?> list) {
      List<@Nullable Object> all = new ArrayList<>(list.size());
      list.forEach(element -> all.add(decoded(element)));
      return all;
    }
    if (reply instanceof Map.Entry<?, ?> pair) { // of a map, which the newer protocol has
      return Arrays.asList(decoded(pair.getKey()), decoded(pair.getValue()));
    }
    return reply;
  }

  /** An error that the server replied, in the protocol's words. */
  static ServerErrorException error(JedisDataException reply) {
    return new ServerErrorException(String.valueOf(reply.getMessage()));
  }

  void complete(@Nullable Object reply) {
    end(reply, null);
  }

  void fail(Throwable failure) {
    end(null, failure);
  }

  private void end(@Nullable Object reply, @Nullable Throwable failure) {
    try {
      then.accept(reply, failure);
    } catch (RuntimeException broken) { // it must not take the connection with it
      LOG.log(System.Logger.Level.WARNING, "what follows a reply failed", broken);
    }
  }
}
