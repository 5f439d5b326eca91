package dev.lukko.scorecard;

import dev.lukko.bench.ServerClocks;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.RedisServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The servers of one row for one library, and client processes, each behind proxies of its own. */
final class Bed implements AutoCloseable {
  static final Duration TTL = Duration.ofSeconds(2);

  /** The server that has a clock, and loses its memory: the last of three, the only one of one. */
  private static final int THIRD = 2;

  private static final int WARM_UPS = 20;

  private final Library library;
  private final Surroundings surroundings;
  private final List<RedisServer> servers = new ArrayList<>();
  private final List<List<FaultProxy>> links = new ArrayList<>();
  private final List<Peer> peers = new ArrayList<>();
  private ServerClocks.@Nullable Clock clock;

  Bed(Library library, Surroundings surroundings) throws InterruptedException {
    this.library = library;
    this.surroundings = surroundings;
    try {
      startServers();
      addPeer();
      addPeer();
    } catch (InterruptedException | RuntimeException failure) {
      close();
      throw failure;
    }
  }

  private void startServers() {
    if (library.isSql()) {
      return;
    }
    for (int i = 0; i < library.servers(); i++) {
      RedisServer.Builder builder = RedisServer.builder();
      Optional<ServerClocks> clocks = surroundings.clocks();
      if (i == last() && clocks.isPresent()) {
        clock = clocks.get().give(builder, library.name());
      }
      servers.add(builder.start());
    }
  }

  private Peer addPeer() throws InterruptedException {
    List<FaultProxy> proxies = new ArrayList<>();
    links.add(proxies);
    List<String> urls = new ArrayList<>();
    for (RedisServer server : servers) {
      FaultProxy proxy = FaultProxy.to(server);
      proxies.add(proxy);
      urls.add(proxy.url("redis"));
    }
    if (library.isSql()) {
      FaultProxy proxy =
          FaultProxy.to(
              new InetSocketAddress(
                  InetAddress.getLoopbackAddress(), surroundings.postgres().getPort()));
      proxies.add(proxy);
      urls.add("jdbc:postgresql://127.0.0.1:" + proxy.port() + "/postgres?user=postgres");
    }
    Peer peer = Peer.start(command(urls));
    peers.add(peer);
    warmUp(peer);
    return peer;
  }

  /** A client that has just started loads classes when it is asked for the first time. */
  private static void warmUp(Peer peer) throws InterruptedException {
    for (int i = 0; i < WARM_UPS; i++) {
      if (peer.ask("lock warm-up").startsWith("held")) {
        peer.ask("unlock");
        return;
      }
    }
  }

  private List<String> command(List<String> urls) {
    List<String> command = new ArrayList<>();
    String ttlMillis = Long.toString(TTL.toMillis());
    if (library.isNode()) {
      command.addAll(surroundings.nodeModules().orElseThrow().command());
    } else {
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx192m", "-cp"));
      command.add(System.getProperty("java.class.path"));
      command.add("dev.lukko.scorecard.client.Client");
      command.add(library.client());
    }
    command.add(ttlMillis);
    command.addAll(urls);
    return command;
  }

  Library library() {
    return library;
  }

  /** The first client, the holder of most rows. */
  Peer a() {
    return peers.get(0);
  }

  /** The second client. */
  Peer b() {
    return peers.get(1);
  }

  /** One more client, started now. */
  Peer another() throws InterruptedException {
    return addPeer();
  }

  boolean isQuorum() {
    return library.servers() > 1;
  }

  /** More than half of the servers. */
  int majority() {
    return library.servers() / 2 + 1;
  }

  private int last() {
    return Math.min(THIRD, library.servers() - 1);
  }

  /** SIGKILL for the first servers; a database is cut off instead. */
  void kill(int count) {
    if (library.isSql()) {
      links.forEach(each -> each.forEach(FaultProxy::cut));
    } else {
      servers.subList(0, count).forEach(RedisServer::kill);
    }
  }

  /** SIGSTOP for the first servers; with a database, nothing passes any more. */
  void hang(int count) {
    if (library.isSql()) {
      links.forEach(each -> each.forEach(FaultProxy::hold));
    } else {
      servers.subList(0, count).forEach(RedisServer::pause);
    }
  }

  /** Makes the third server, or the only one, forget everything. */
  void loseMemory() {
    servers.get(last()).command("FLUSHALL");
  }

  /** Whether {@link #jump} can be done here. */
  boolean hasClock() {
    return clock != null;
  }

  /** Sets the clock of the third server, or of the only one, ahead. */
  void jump(Duration offset) {
    Objects.requireNonNull(clock).set(offset);
  }

  /** The way of a client to a server. */
  FaultProxy link(Peer peer, int server) {
    return links.get(peers.indexOf(peer)).get(server);
  }

  List<FaultProxy> links(Peer peer) {
    return links.get(peers.indexOf(peer));
  }

  @Override
  public void close() {
    peers.forEach(Peer::close);
    links.forEach(each -> each.forEach(FaultProxy::close));
    servers.forEach(RedisServer::close);
  }
}
