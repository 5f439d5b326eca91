package dev.lukko.cli.doctor;

import dev.lukko.LockException;
import dev.lukko.redis.RedisRights;
import dev.lukko.redis.format.RedisKeyFormat;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * What the user of this connection may do.
 *
 * @param user its name, or that it is not told
 * @param missing the commands of a lock that it may not use
 * @param refused why the server refuses to write, or empty
 */
record Rights(String user, List<String> missing, String refused) {
  static final String UNTOLD = "not told";

  private static final String UNUSED = "0000000000000000000000000000000000000000";

  /** Tries it; leaves nothing behind. */
  static Rights of(Questions questions, RedisKeyFormat format) {
    String user = questions.text("ACL", "WHOAMI");
    List<String> missing = new ArrayList<>();
    if (isForbidden(questions, "EVALSHA", UNUSED, "0")) {
      missing.add("evalsha");
    }
    String beginning = RedisRights.pattern(format).replace("?", "\u0001").replace("*", "");
    String key = beginning + "{doctor " + UUID.randomUUID() + "}";
    String refused = "";
    try {
      if (questions.ask("EVAL", script(), "1", key, key + ":released") instanceof List<?> reply) {
        reply.subList(0, reply.size() - 2).forEach(name -> missing.add(String.valueOf(name)));
        refused = String.valueOf(reply.get(reply.size() - 1));
      }
    } catch (LockException failed) {
      if (String.valueOf(failed.getMessage()).startsWith("NOPERM")) {
        missing.add("eval");
      } else {
        refused = String.valueOf(failed.getMessage());
      }
    }
    // Asked last: afterwards the connection is for nothing else.
    if (isForbidden(questions, "SUBSCRIBE", key + ":released")) {
      missing.add("subscribe");
    }
    return new Rights(user == null ? UNTOLD : user, missing, refused);
  }

  private static boolean isForbidden(Questions questions, String... words) {
    try {
      questions.ask(words);
      return false;
    } catch (LockException refused) {
      return String.valueOf(refused.getMessage()).startsWith("NOPERM");
    }
  }

  private static String script() {
    try (InputStream in = Rights.class.getResourceAsStream("rights.lua")) {
      if (in == null) {
        throw new IllegalStateException("resource rights.lua is missing");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
