package dev.lukko.redis;

import dev.lukko.redis.protocol.Script;
import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisScriptingCommands;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A script of the resource side, run on a connection of the caller's; the files say what they take
 * and give.
 */
final class ResourceScript {
  private final String text;
  private final String digest;

  /** A script made of files of this package, one after the other. */
  ResourceScript(String... files) {
    StringBuilder all = new StringBuilder();
    for (String file : files) {
      all.append(read(file));
    }
    this.text = all.toString();
    this.digest = Script.digestOf(text);
  }

  /** Runs the script, whose reply is a list. */
  List<@Nullable Object> list(
      RedisScriptingCommands<String, String> commands, String[] keys, String... arguments) {
    try {
      return commands.evalsha(digest, ScriptOutputType.MULTI, keys, arguments);
    } catch (RedisNoScriptException unknown) {
      return commands.eval(text, ScriptOutputType.MULTI, keys, arguments);
    }
  }

  /** Runs the script, whose reply is a number. */
  long number(RedisScriptingCommands<String, String> commands, String[] keys, String... arguments) {
    Long reply;
    try {
      reply = commands.evalsha(digest, ScriptOutputType.INTEGER, keys, arguments);
    } catch (RedisNoScriptException unknown) {
      reply = commands.eval(text, ScriptOutputType.INTEGER, keys, arguments);
    }
    return reply;
  }

  /**
   * The script's answer, also in a thread that is interrupted, where the driver gives up a request
   * that is on its way. A claim or a result must not be left to chance; so it is asked once more,
   * which changes nothing, as each script knows its owner. The flag is kept.
   */
  static <T> T answered(Supplier<T> script) {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try {
          return script.get();
        } catch (RedisCommandInterruptedException again) {
          interrupted = true;
          var unused = Thread.interrupted(); // The driver has set it again.
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  static String read(String file) {
    try (InputStream in = ResourceScript.class.getResourceAsStream(file)) {
      if (in == null) {
        throw new IllegalStateException("resource " + file + " is missing");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
