package dev.lukko.redis.protocol;

import dev.lukko.redis.protocol.RedisAddress.Kind;
import dev.lukko.redis.protocol.RedisAddress.Place;
import dev.lukko.redis.protocol.RedisAddress.Tls;
import dev.lukko.text.PrintableAddress;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads addresses written as URLs. What is thrown never shows a password. */
public final class RedisUrl {
  private static final String RULE =
      "; it must be redis://host:port/db, rediss://host:port/db, redis-socket:///path,"
          + " redis-sentinel://host:port,host:port/db?sentinelMasterId=name or"
          + " redis-cluster://host:port,host:port";

  private static final Map<String, Kind> KINDS =
      Map.of(
          "redis", Kind.SERVER,
          "rediss", Kind.SERVER,
          "redis-socket", Kind.SOCKET,
          "redis-sentinel", Kind.SENTINEL,
          "rediss-sentinel", Kind.SENTINEL,
          "redis-cluster", Kind.CLUSTER,
          "rediss-cluster", Kind.CLUSTER);

  private static final int DEFAULT_PORT = 6_379;
  private static final int DEFAULT_SENTINEL_PORT = 26_379;
  private static final int MAX_PORT = 65_535;

  private static final Pattern FORM =
      Pattern.compile("([a-z-]+)://([^/?#]*)(/[^?#]*)?(?:\\?([^#]*))?");
  private static final Pattern ILLEGAL = Pattern.compile("[\\s\\p{Cntrl}<>\"{}|\\\\^`]");
  private static final Pattern PLACE =
      Pattern.compile("([A-Za-z0-9._~-]+|\\[[0-9A-Fa-f:.]+\\])(?::(\\d{1,5}))?");

  private final String shown;
  private final Kind kind;
  private final boolean tls;
  private final String authority;
  private final String path;
  private final UrlParameters parameters;

  private RedisUrl(String url) {
    shown = "url \"" + PrintableAddress.of(url) + "\"";
    Matcher matcher = FORM.matcher(url);
    if (!matcher.matches() || ILLEGAL.matcher(url).find()) {
      throw refused("is not a URL");
    }
    String scheme = matcher.group(1);
    Kind known = KINDS.get(scheme);
    if (known == null) {
      throw refused("has an unknown scheme");
    }
    kind = known;
    tls = scheme.startsWith("rediss");
    authority = matcher.group(2);
    path = matcher.group(3) == null ? "" : matcher.group(3);
    parameters = new UrlParameters(shown, matcher.group(4), kind, tls);
  }

  /**
   * Checks a URL.
   *
   * @param access what holds where the URL says nothing
   * @throws IllegalArgumentException if it is malformed, or a file or password that it names cannot
   *     be read
   */
  public static RedisAddress parse(@Nullable String url, RedisAccess access) {
    if (url == null) {
      throw new IllegalArgumentException("url is null" + RULE);
    }
    return new RedisUrl(url).address(access);
  }

  private RedisAddress address(RedisAccess access) {
    int at = authority.lastIndexOf('@');
    String places = authority.substring(at + 1);
    String master = parameters.text("sentinelMasterId", "");
    if (kind == Kind.SENTINEL && master.isEmpty()) {
      throw refused("has no parameter sentinelMasterId, the name that Sentinel knows");
    }
    if (kind == Kind.SOCKET ? !places.isEmpty() || path.length() < 2 : places.isEmpty()) {
      throw refused(kind == Kind.SOCKET ? "has no path" : "has no valid host");
    }
    Login login = login(at < 0 ? null : authority.substring(0, at), access.login());
    TlsFiles files = files();
    if (tls) {
      files = files.or(access.files()).checked();
    } else if (kind != Kind.SOCKET && !access.files().isEmpty()) {
      throw refused("has no TLS, though files for TLS are given; it must begin with rediss");
    }
    return new RedisAddress(
        kind,
        kind == Kind.SOCKET ? List.of() : places(places),
        kind == Kind.SOCKET ? decoded(path) : "",
        master,
        tls ? new Tls(parameters.checksHost(), files) : null,
        database(),
        login.checked("user"),
        parameters
            .login("sentinelUser", "sentinelPasswordFile", "sentinelPasswordEnv")
            .or(access.sentinelLogin())
            .checked("sentinelUser"),
        clientName(access));
  }

  /** A word without a colon is the password, unless that comes from elsewhere. */
  private Login login(@Nullable String userInfo, Login others) {
    Login elsewhere = parameters.login("user", "passwordFile", "passwordEnv");
    if (userInfo == null || userInfo.isEmpty()) {
      return elsewhere.or(others);
    }
    int colon = userInfo.indexOf(':');
    String first = decoded(colon < 0 ? userInfo : userInfo.substring(0, colon));
    String password = colon < 0 ? "" : decoded(userInfo.substring(colon + 1));
    if (colon < 0 && elsewhere.password() == null && others.password() == null) {
      password = first;
      first = "";
    }
    if (!password.isEmpty() && elsewhere.password() != null) {
      throw refused("has a password, and a parameter that names another; there must be one");
    }
    return new Login(
            first.isEmpty() ? elsewhere.user() : first,
            password.isEmpty() ? elsewhere.password() : Secret.text(password))
        .or(others);
  }

  private TlsFiles files() {
    return new TlsFiles(file("cacert"), file("cert"), file("key"));
  }

  private @Nullable Path file(String parameter) {
    String text = parameters.text(parameter, "");
    try {
      return text.isEmpty() ? null : Path.of(text);
    } catch (InvalidPathException malformed) {
      throw refused("has a parameter " + parameter + " that is not a path");
    }
  }

  private List<Place> places(String text) {
    List<Place> places = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      Matcher matcher = PLACE.matcher(part);
      if (!matcher.matches()) {
        // what follows the last colon of a host is meant as a port
        throw refused(
            part.matches("([^:]+|\\[.*\\]):.*")
                ? "has no port from 1 to 65535"
                : "has no valid host");
      }
      places.add(new Place(matcher.group(1), port(matcher.group(2))));
    }
    if (places.size() > 1 && kind == Kind.SERVER) {
      throw refused("has several hosts; a node is one server");
    }
    return places;
  }

  private int port(@Nullable String text) {
    if (text == null) {
      return kind == Kind.SENTINEL ? DEFAULT_SENTINEL_PORT : DEFAULT_PORT;
    }
    int port = Integer.parseInt(text);
    if (port < 1 || port > MAX_PORT) {
      throw refused("has no port from 1 to 65535");
    }
    return port;
  }

  private int database() {
    String inPath = kind == Kind.SOCKET || path.length() < 2 ? "" : path.substring(1);
    String text = parameters.text("database", inPath);
    if (!text.matches("\\d{0,6}") || !inPath.matches("\\d{0,6}")) {
      throw refused("has a path that is not the number of a database");
    }
    if (!inPath.isEmpty() && !text.equals(inPath)) {
      throw refused("has two different numbers of a database");
    }
    int database = text.isEmpty() ? 0 : Integer.parseInt(text);
    if (kind == Kind.CLUSTER && database != 0) {
      throw refused("has the number of a database; a cluster has only one");
    }
    return database;
  }

  private String clientName(RedisAccess access) {
    String name = parameters.text("clientName", access.clientName());
    RedisAccess.checkClientName(name);
    return name;
  }

  private String decoded(String text) {
    return UrlParameters.decoded(text, shown);
  }

  private IllegalArgumentException refused(String why) {
    return new IllegalArgumentException(shown + " " + why + RULE);
  }
}
