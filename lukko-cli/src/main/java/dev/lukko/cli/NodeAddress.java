package dev.lukko.cli;

import dev.lukko.text.PrintableAddress;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a node is, as its URL says.
 *
 * @param url the whole URL, with its password if it has one: never to be shown
 * @param scheme the part before the colon, in lower case
 * @param server host and port in lower case, or the path of a socket, or all hosts of Sentinel or a
 *     cluster, by which a server is recognised
 */
record NodeAddress(String url, String scheme, String server) {

  private static final int DEFAULT_PORT = 6379;
  private static final String EXAMPLE = "redis://localhost:6379";
  private static final Pattern PLACES = Pattern.compile("[A-Za-z0-9._~:,/\\[\\]-]*");
  private static final String SOCKET = "redis-socket";
  private static final Pattern MASTER = Pattern.compile("[?&](sentinelMasterId=[^&]*)");

  static NodeAddress parse(String url) {
    int end = url.indexOf("://");
    if (end <= 0) {
      throw refused(url, "has no scheme; write " + EXAMPLE + " (or rediss:// for TLS)");
    }
    String scheme = url.substring(0, end).toLowerCase(Locale.ROOT);
    if (!NodeConnector.SCHEMES.contains(scheme)) {
      throw refused(
          url, "has an unknown scheme; known are " + String.join(", ", NodeConnector.SCHEMES));
    }
    String rest = url.substring(end + 3);
    String place = rest.substring(rest.lastIndexOf('@') + 1);
    String beforeQuery = place.split("\\?", 2)[0];
    if (!scheme.equals(SOCKET) && !PLACES.matcher(beforeQuery).matches()) {
      throw refused(url, "has no valid host; write " + EXAMPLE);
    }
    if (scheme.equals(SOCKET)) {
      return new NodeAddress(url, scheme, beforeQuery);
    }
    if (scheme.endsWith("-sentinel") || scheme.endsWith("-cluster")) {
      Matcher master = MASTER.matcher(place);
      return new NodeAddress(
          url,
          scheme,
          beforeQuery.toLowerCase(Locale.ROOT) + (master.find() ? "?" + master.group(1) : ""));
    }
    String location = place.split("[/?#]", 2)[0];
    return new NodeAddress(url, scheme, server(url, location.toLowerCase(Locale.ROOT)));
  }

  private static String server(String url, String location) {
    int colon = location.lastIndexOf(':');
    boolean hasPort = colon > location.lastIndexOf(']');
    String host = hasPort ? location.substring(0, colon) : location;
    if (host.isEmpty()) {
      throw refused(url, "has no host; write " + EXAMPLE);
    }
    return host + ":" + (hasPort ? port(url, location.substring(colon + 1)) : DEFAULT_PORT);
  }

  private static int port(String url, String text) {
    try {
      int port = Integer.parseInt(text);
      if (port >= 1 && port <= 65_535) {
        return port;
      }
    } catch (NumberFormatException notANumber) {
      // Refused below.
    }
    throw refused(url, "has no port from 1 to 65535");
  }

  /** Nothing is repeated as it was given: nobody can tell where in it the password is. */
  private static UsageException refused(String url, String why) {
    return new UsageException("node '" + PrintableAddress.of(url) + "' " + why);
  }

  /** The address without user and password. */
  @Override
  public String toString() {
    return scheme + "://" + server;
  }
}
