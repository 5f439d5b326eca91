package dev.lukko.redis.protocol;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;

/**
 * The scripts that run at the server, one for each request; their files say what they take and
 * give.
 */
public enum Script {
  GRANT("fleet.lua", "line.lua"),
  CONFIRM("fleet.lua"),
  EXTEND("fleet.lua"),
  REPAIR("fleet.lua"),
  RELEASE,
  INSPECT,
  LEAVE,
  ADMIT,
  HIGHEST;

  private final String text;
  private final String digest;

  Script(String... parts) {
    String file = name().toLowerCase(Locale.ROOT) + ".lua";
    StringBuilder all = new StringBuilder(hasQuickCase() ? read("quick_" + file) : "");
    all.append(read("common.lua"));
    for (String part : parts) {
      all.append(read(part));
    }
    text = all.append(read(file)).toString();
    digest = digestOf(text);
  }

  /** Whether a file of its own answers the common case without what the others need. */
  private boolean hasQuickCase() {
    String name = name();
    return name.equals("GRANT") || name.equals("RELEASE") || name.equals("EXTEND");
  }

  public String text() {
    return text;
  }

  /** By this the server finds a script that it has seen before. */
  public String digest() {
    return digest;
  }

  /** Whether the script can write an entry that was not there. */
  public boolean creates() {
    return this == GRANT || this == REPAIR;
  }

  private static String read(String file) {
    try (InputStream in = Script.class.getResourceAsStream(file)) {
      if (in == null) {
        throw new IllegalStateException("resource " + file + " is missing");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The name by which a server finds a script with this text. */
  public static String digestOf(String text) {
    try {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(bytes));
    } catch (NoSuchAlgorithmException missing) {
      throw new IllegalStateException("every Java platform has SHA-1", missing);
    }
  }
}
