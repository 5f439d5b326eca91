package dev.lukko.redis.protocol;

import dev.lukko.redis.protocol.RedisAddress.Kind;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The parameters of a URL, behind its question mark. */
final class UrlParameters {
  private static final List<String> ALWAYS =
      List.of("user", "passwordFile", "passwordEnv", "clientName");
  private static final List<String> WITH_DATABASE = List.of("database");
  private static final List<String> OF_SENTINEL =
      List.of("sentinelMasterId", "sentinelUser", "sentinelPasswordFile", "sentinelPasswordEnv");
  private static final List<String> OF_TLS = List.of("cacert", "cert", "key", "verifyPeer");

  private final String shown;
  private final Map<String, String> values = new HashMap<>();

  /**
   * Reads them.
   *
   * @param shown the URL for messages
   * @throws IllegalArgumentException if one is unknown, repeated, or makes no sense here
   */
  UrlParameters(String shown, @Nullable String query, Kind kind, boolean tls) {
    this.shown = shown;
    List<String> known = new ArrayList<>(ALWAYS);
    known.addAll(kind == Kind.CLUSTER ? List.of() : WITH_DATABASE);
    known.addAll(kind == Kind.SENTINEL ? OF_SENTINEL : List.of());
    known.addAll(tls ? OF_TLS : List.of());
    for (String part : query == null || query.isEmpty() ? new String[0] : query.split("&", -1)) {
      int equals = part.indexOf('=');
      String name = equals < 0 ? part : part.substring(0, equals);
      if (!known.contains(name)) {
        throw new IllegalArgumentException(
            shown
                + (OF_TLS.contains(name)
                    ? " has the parameter " + name + ", which is for TLS: write rediss"
                    : " has an unknown parameter; those here are " + String.join(", ", known)));
      }
      String value = equals < 0 ? "" : decoded(part.substring(equals + 1), shown);
      if (value.isEmpty() || values.put(name, value) != null) {
        throw new IllegalArgumentException(
            shown + " has the parameter " + name + " empty or twice; it must be there once");
      }
    }
  }

  String text(String name, String otherwise) {
    return values.getOrDefault(name, otherwise);
  }

  /** A login of which the URL names the sources. */
  Login login(String user, String passwordFile, String passwordEnv) {
    String file = values.get(passwordFile);
    String variable = values.get(passwordEnv);
    if (file != null && variable != null) {
      throw new IllegalArgumentException(
          shown + " has both " + passwordFile + " and " + passwordEnv + "; there must be one");
    }
    return new Login(
        values.get(user),
        file != null
            ? Secret.file(path(passwordFile, file))
            : variable != null ? Secret.variable(variable, System::getenv) : null);
  }

  private Path path(String name, String text) {
    try {
      return Path.of(text);
    } catch (InvalidPathException malformed) {
      throw new IllegalArgumentException(shown + " has a parameter " + name + " without a path");
    }
  }

  /** Whether a certificate must name the host. */
  boolean checksHost() {
    String verify = text("verifyPeer", "FULL");
    if (!verify.equals("FULL") && !verify.equals("CA")) {
      throw new IllegalArgumentException(
          shown
              + " has a parameter verifyPeer other than FULL (the certificate must name the host)"
              + " or CA (any host of the authority will do)");
    }
    return verify.equals("FULL");
  }

  /** Resolves percent signs; a plus sign is just that. */
  static String decoded(String text, String shown) {
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException malformed) {
      // its message could show a part of the password
      throw new IllegalArgumentException(
          shown + " has a percent sign that is not followed by two hexadecimal digits");
    }
  }
}
