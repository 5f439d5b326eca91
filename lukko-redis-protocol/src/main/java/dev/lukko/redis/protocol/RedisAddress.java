package dev.lukko.redis.protocol;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Where a node is and how to get in, whatever the driver: checked, with a name that can be shown.
 *
 * @param kind what is at the address
 * @param places the server, or the Sentinels, or some servers of the cluster; none for a socket
 * @param path the file of a Unix socket, or empty
 * @param master the name by which Sentinel knows the server, or empty
 * @param tls how connections are encrypted, or null if they are not
 * @param database the number of the database
 * @param login as whom to log in at the server
 * @param sentinelLogin as whom to log in at the Sentinels
 * @param clientName how connections are named at the server
 */
public record RedisAddress(
    Kind kind,
    List<Place> places,
    String path,
    String master,
    @Nullable Tls tls,
    int database,
    Login login,
    Login sentinelLogin,
    String clientName) {

  public static final String DEFAULT_CLIENT_NAME = "lukko";

  /** What is at an address. */
  public enum Kind {
    /** One server. */
    SERVER,
    /** One server, by a Unix socket. */
    SOCKET,
    /** Whichever server Sentinel names. */
    SENTINEL,
    /** A Redis Cluster, as one node. */
    CLUSTER
  }

  /** A host and its port. */
  public record Place(String host, int port) {
    @Override
    public String toString() {
      return host + ":" + port;
    }
  }

  /**
   * How connections are encrypted.
   *
   * @param checksHost whether the certificate must name the host
   */
  public record Tls(boolean checksHost, TlsFiles files) {}

  public RedisAddress {
    places = List.copyOf(places);
  }

  /** The address without user and password. */
  public String name() {
    String where = places.stream().map(Place::toString).collect(Collectors.joining(","));
    String number = database == 0 ? "" : Integer.toString(database);
    return switch (kind) {
      case SERVER -> number.isEmpty() ? where : where + "/" + number;
      case SOCKET -> number.isEmpty() ? path : path + "#" + number;
      case SENTINEL -> master + (number.isEmpty() ? "" : "/" + number) + " by Sentinel " + where;
      case CLUSTER -> "cluster " + where;
    };
  }

  @Override
  public String toString() {
    return name();
  }
}
