package dev.lukko.jdbc;

import dev.lukko.spi.LockNode;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.contract.StoreTrait;
import dev.lukko.testkit.contract.StoreUnderTest;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A database for the contract: behind a proxy if it is a server, else as it is. */
final class JdbcStore implements StoreUnderTest {
  private static final Pattern SERVER = Pattern.compile("//(?:localhost|127\\.0\\.0\\.1):(\\d+)/");

  private final TestDatabase database;
  private final FaultProxy proxy;
  private final String url;
  private final Restart restart;
  private final String countConnections;

  /** Ends a server and starts it again. */
  interface Restart {
    void run() throws Exception;
  }

  private JdbcStore(
      TestDatabase database, Restart restart, String countConnections, boolean server) {
    this.database = database;
    this.restart = restart;
    this.countConnections = countConnections;
    String direct = url(database);
    Matcher matcher = SERVER.matcher(direct);
    if (server && matcher.find()) {
      int port = Integer.parseInt(matcher.group(1));
      proxy = FaultProxy.to(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      url = matcher.replaceFirst("//127.0.0.1:" + proxy.port() + "/");
    } else {
      proxy = null;
      url = direct;
    }
  }

  /** A database on a server. */
  static JdbcStore onServer(TestDatabase database, String countConnections, Restart restart) {
    return new JdbcStore(database, restart, countConnections, true);
  }

  /** A database inside this process. */
  static JdbcStore embedded(TestDatabase database) {
    return new JdbcStore(database, null, null, false);
  }

  private static String url(TestDatabase database) {
    try (Connection connection = database.source().getConnection()) {
      return connection.getMetaData().getURL();
    } catch (SQLException failure) {
      throw new AssertionError(failure);
    }
  }

  @Override
  public LockNode openNode() {
    return builder().build();
  }

  @Override
  public LockNode openNode(String name) {
    return builder().name(name).build();
  }

  private JdbcNodeBuilder builder() {
    return (proxy == null ? JdbcNode.builder(database.source()) : JdbcNode.builder(url))
        .requestTimeout(Duration.ofSeconds(3));
  }

  @Override
  public Set<StoreTrait> traits() {
    Set<StoreTrait> traits =
        EnumSet.of(
            StoreTrait.SEVERAL_RESOURCES,
            StoreTrait.TELLS_HOLDER,
            StoreTrait.SETS_COUNTER,
            StoreTrait.FORGETS,
            StoreTrait.NAMES_NODES);
    if (proxy != null) {
      traits.add(StoreTrait.LOSES_MESSAGES);
      traits.add(StoreTrait.HANGS);
      traits.add(StoreTrait.COUNTS_CONNECTIONS);
      traits.add(StoreTrait.RESTARTS);
    }
    return traits;
  }

  /** The column holds whole numbers only. */
  @Override
  public boolean setCounter(String resource, String text) {
    if (!text.matches("-?\\d+")) {
      return false;
    }
    database.setCounter(resource, text);
    return true;
  }

  /** As if the tables had been dropped and made anew. */
  @Override
  public void forget() {
    database.forget();
  }

  @Override
  public void restart() throws Exception {
    restart.run();
  }

  private static Predicate<byte[]> has(String text) {
    return packet -> new String(packet, StandardCharsets.ISO_8859_1).contains(text);
  }

  @Override
  public void loseRequest(String text) {
    proxy.resetAtNextRequest(has(text));
  }

  @Override
  public void loseReply(String text) {
    proxy.resetAtNextReply(has(text));
  }

  @Override
  public void hang() {
    proxy.hold();
  }

  @Override
  public void resume() {
    proxy.heal();
  }

  @Override
  public int connections() throws SQLException {
    try (var connection = database.source().getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery(countConnections)) {
      rows.next();
      return rows.getInt(1);
    }
  }

  /** Drivers keep threads of their own for the whole process. */
  @Override
  public boolean isOfNode(Thread thread) {
    return thread.getName().startsWith("lukko-jdbc-");
  }

  @Override
  public void close() {
    if (proxy != null) {
      proxy.close();
    }
  }
}
