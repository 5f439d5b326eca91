package dev.lukko.redis;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.redis.ArrayRedisMessage;
import io.netty.handler.codec.redis.FullBulkStringRedisMessage;
import io.netty.handler.codec.redis.RedisArrayAggregator;
import io.netty.handler.codec.redis.RedisBulkStringAggregator;
import io.netty.handler.codec.redis.RedisDecoder;
import io.netty.handler.codec.redis.RedisEncoder;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

/**
 * A server that pretends to be of a certain version: it speaks the protocol, has the commands of
 * that version, and knows the short forms of the scripts by their digests.
 */
final class ScriptedServer implements AutoCloseable {
  private final MultiThreadIoEventLoopGroup threads =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final List<List<String>> received = new CopyOnWriteArrayList<>();
  private final ScriptedStore store;
  private final Channel channel;

  /** Requests that are run and never answered; the connection ends instead. */
  final AtomicReference<Predicate<List<String>>> swallowed = new AtomicReference<>(words -> false);

  ScriptedServer(ScriptedStore.Version version) {
    store = new ScriptedStore(version);
    channel =
        new ServerBootstrap()
            .group(threads)
            .channel(NioServerSocketChannel.class)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel client) {
                    client
                        .pipeline()
                        .addLast(new RedisDecoder())
                        .addLast(new RedisBulkStringAggregator())
                        .addLast(new RedisArrayAggregator())
                        .addLast(new RedisEncoder())
                        .addLast(new Session());
                  }
                })
            .bind(InetAddress.getLoopbackAddress(), 0)
            .syncUninterruptibly()
            .channel();
  }

  String url() {
    return "redis://127.0.0.1:" + ((InetSocketAddress) channel.localAddress()).getPort();
  }

  /** All in one thread, as the real ones. */
  ScriptedStore store() {
    return store;
  }

  /** From now on it is another version, on the same connections. */
  void become(ScriptedStore.Version version) {
    threads.submit(() -> store.become(version)).syncUninterruptibly();
  }

  /** What came about locks since the last look: the names of commands, and of scripts. */
  List<String> requests() {
    List<String> names =
        received.stream().map(ScriptedStore::name).filter(name -> !name.isEmpty()).toList();
    received.clear();
    return names;
  }

  @Override
  public void close() {
    threads.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private final class Session extends SimpleChannelInboundHandler<ArrayRedisMessage> {
    @Override
    protected void channelRead0(ChannelHandlerContext context, ArrayRedisMessage message) {
      List<String> words =
          message.children().stream()
              .map(FullBulkStringRedisMessage.class::cast)
              .map(word -> word.content().toString(StandardCharsets.UTF_8))
              .toList();
      received.add(words);
      Object reply = store.run(words);
      if (swallowed.get().test(words)) {
        context.close();
      } else {
        context.writeAndFlush(reply);
      }
    }
  }
}
