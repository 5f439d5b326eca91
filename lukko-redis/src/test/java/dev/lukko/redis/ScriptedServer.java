package dev.lukko.redis;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
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
import io.netty.handler.codec.redis.RedisMessage;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/**
 * A server that pretends to be of a certain version: it speaks both versions of the protocol, and
 * knows the short forms of the scripts by their digests.
 */
final class ScriptedServer implements AutoCloseable {
  private final MultiThreadIoEventLoopGroup threads =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final List<List<String>> received = new CopyOnWriteArrayList<>();
  private final ScriptedStore store;
  private final Channel channel;

  /** What it answers in place of the truth; null for the truth. */
  final AtomicReference<Function<List<String>, RedisMessage>> lies =
      new AtomicReference<>(words -> null);

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
    private static final String HELLO =
        "%7\r\n+server\r\n+redis\r\n+version\r\n+7.4.2\r\n+proto\r\n:3\r\n+id\r\n:1\r\n"
            + "+mode\r\n+standalone\r\n+role\r\n+master\r\n+modules\r\n*0\r\n";

    private boolean newer;

    @Override
    protected void channelRead0(ChannelHandlerContext context, ArrayRedisMessage message) {
      List<String> words =
          message.children().stream()
              .map(FullBulkStringRedisMessage.class::cast)
              .map(word -> word.content().toString(StandardCharsets.UTF_8))
              .toList();
      received.add(words);
      RedisMessage lie = lies.get().apply(words);
      if (lie == null && words.get(0).equalsIgnoreCase("HELLO") && words.contains("3")) {
        newer = true;
        context.writeAndFlush(raw(HELLO));
        return;
      }
      RedisMessage reply = lie == null ? store.run(words) : lie;
      context.writeAndFlush(
          newer && reply == FullBulkStringRedisMessage.NULL_INSTANCE ? raw("_\r\n") : reply);
    }

    private static ByteBuf raw(String text) {
      return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }
  }
}
