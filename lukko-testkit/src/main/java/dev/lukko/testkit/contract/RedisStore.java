package dev.lukko.testkit.contract;

import dev.lukko.spi.LockNode;
import dev.lukko.testkit.FaultProxy;
import dev.lukko.testkit.RedisServer;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * A real Redis server for {@link LockNodeContract}, behind a {@link FaultProxy}, with every fault
 * that the contract knows save a clock that moves. The server is a process of its own, ends with
 * the test, and writes each change to its disk before it answers.
 */
public final class RedisStore implements StoreUnderTest {
  private final RedisServer server;
  private final FaultProxy proxy;
  private final Function<String, LockNode> connect;
  private final UnaryOperator<String> counterKey;

  private RedisStore(
      RedisServer server, Function<String, LockNode> connect, UnaryOperator<String> counterKey) {
    this.server = server;
    this.proxy = FaultProxy.to(server);
    this.connect = connect;
    this.counterKey = counterKey;
  }

  /**
   * Starts a server.
   *
   * @param connect makes a node from a {@code redis://} URL; its own limit of time should be a few
   *     seconds
   * @param counterKey the key of a resource's counter, a string
   */
  public static RedisStore start(
      Function<String, LockNode> connect, UnaryOperator<String> counterKey) {
    return new RedisStore(RedisServer.builder().appendOnly().start(), connect, counterKey);
  }

  /** The server, for whatever else is to be seen or done there. */
  public RedisServer server() {
    return server;
  }

  @Override
  public LockNode openNode() {
    return connect.apply(proxy.url("redis"));
  }

  @Override
  public Set<StoreTrait> traits() {
    return EnumSet.complementOf(EnumSet.of(StoreTrait.MOVES_CLOCK, StoreTrait.NAMES_NODES));
  }

  @Override
  public boolean setCounter(String resource, String text) {
    server.command("SET", counterKey.apply(resource), text);
    return true;
  }

  @Override
  public void restart() {
    server.restart();
  }

  @Override
  public void forget() {
    server.command("FLUSHALL");
  }

  private static Predicate<byte[]> has(String text) {
    return packet -> new String(packet, StandardCharsets.UTF_8).contains(text);
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
    server.pause();
  }

  @Override
  public void resume() {
    server.resume();
  }

  /** All but the one that asks. */
  @Override
  public int connections() {
    return (int) String.valueOf(server.command("CLIENT", "LIST")).lines().count() - 1;
  }

  @Override
  public void close() {
    proxy.close();
    server.close();
  }
}
