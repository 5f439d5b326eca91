package dev.lukko.redis;

import dev.lukko.redis.protocol.ReplyBounds;
import io.lettuce.core.protocol.CommandHandler;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;

/**
 * Ends a connection whose server announces more than a reply can have, before the driver reads it.
 */
final class BoundedReplies extends ChannelInboundHandlerAdapter {
  private final ReplyBounds bounds = new ReplyBounds();

  private BoundedReplies() {}

  /** Puts one into each connection, behind TLS and before the driver's own reader. */
  static NettyCustomizer inEachConnection() {
    return new NettyCustomizer() {
      @Override
      public void afterChannelInitialized(Channel channel) {
        ChannelPipeline pipeline = channel.pipeline();
        ChannelHandlerContext reader = pipeline.context(CommandHandler.class);
        if (reader != null) {
          pipeline.addBefore(reader.name(), "lukko-bounded-replies", new BoundedReplies());
        }
      }
    };
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) throws IOException {
    if (message instanceof ByteBuf bytes) {
      try {
        byte[] copy = new byte[bytes.readableBytes()];
        bytes.getBytes(bytes.readerIndex(), copy);
        bounds.read(copy, 0, copy.length);
      } catch (IOException refused) {
        ReferenceCountUtil.release(message);
        context.fireExceptionCaught(refused);
        context.close();
        return;
      }
    }
    context.fireChannelRead(message);
  }
}
