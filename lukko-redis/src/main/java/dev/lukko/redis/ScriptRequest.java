package dev.lukko.redis;

import dev.lukko.redis.protocol.ScriptCall;
import dev.lukko.redis.protocol.ServerErrorException;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A script's call in the form in which the driver sends it.
 *
 * <p>The bytes are made in the thread that asks, and the reply goes straight to whoever waits for
 * it: the driver's few threads, through which all requests to all nodes pass, have as little to do
 * as can be. (With the driver's own commands it encoded each argument by a buffer of its own; see
 * docs/internals/decisions.md.)
 */
final class ScriptRequest implements RedisCommand<String, String, List<Object>> {
  private static final CommandArgs<String, String> NONE = new CommandArgs<>(StringCodec.UTF8);
  private static final byte[] END_OF_LINE = {'\r', '\n'};
  private static final int USUAL_BYTES = 512;

  private final CommandType type;
  private final ByteBuf encoded; // on the heap, not pooled
  private final BiConsumer<@Nullable List<Object>, @Nullable Throwable> then;
  private final AtomicBoolean done = new AtomicBoolean();
  private CommandOutput<String, String, List<Object>> output = new ScriptReply();
  private volatile boolean cancelled;

  private ScriptRequest(
      CommandType type,
      ByteBuf encoded,
      BiConsumer<@Nullable List<Object>, @Nullable Throwable> then) {
    this.type = type;
    this.encoded = encoded;
    this.then = then;
  }

  /**
   * A request.
   *
   * @param withText whether it brings the script's text, or its digest only
   */
  static ScriptRequest of(
      ScriptCall call,
      String run,
      boolean withText,
      BiConsumer<@Nullable List<Object>, @Nullable Throwable> then) {
    CommandType type = withText ? CommandType.EVAL : CommandType.EVALSHA;
    String script = withText ? call.script().text() : call.script().digest();
    String[] keys = call.keys(run);
    String[] arguments = call.arguments(run);
    ByteBuf encoded = Unpooled.buffer(USUAL_BYTES);
    addLine(encoded, '*', 3 + keys.length + arguments.length);
    add(encoded, type.name());
    add(encoded, script);
    add(encoded, Integer.toString(keys.length));
    for (String key : keys) {
      add(encoded, key);
    }
    for (String argument : arguments) {
      add(encoded, argument);
    }
    return new ScriptRequest(type, encoded, then);
  }

  @Override
  public void encode(ByteBuf out) {
    out.writeBytes(encoded, 0, encoded.writerIndex());
  }

  @Override
  public void complete() {
    String error = output.getError();
    end(
        error == null ? output.get() : null,
        error == null ? null : new ServerErrorException(error));
  }

  @Override
  public boolean completeExceptionally(Throwable failure) {
    return end(null, DriverErrors.ofRequest(failure));
  }

  @Override
  public void cancel() {
    cancelled = true;
    end(null, new CancellationException());
  }

  private boolean end(@Nullable List<Object> reply, @Nullable Throwable failure) {
    boolean first = done.compareAndSet(false, true);
    if (first) {
      then.accept(reply, failure);
    }
    return first;
  }

  @Override
  public boolean isCancelled() {
    return cancelled;
  }

  @Override
  public boolean isDone() {
    return done.get();
  }

  @Override
  public CommandOutput<String, String, List<Object>> getOutput() {
    return output;
  }

  @Override
  public void setOutput(CommandOutput<String, String, List<Object>> output) {
    this.output = output;
  }

  @Override
  public CommandArgs<String, String> getArgs() {
    return NONE; // they are encoded already
  }

  @Override
  public CommandType getType() {
    return type;
  }

  @Override
  public String toString() {
    return type.toString();
  }

  private static void add(ByteBuf to, String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    addLine(to, '$', utf8.length);
    to.writeBytes(utf8).writeBytes(END_OF_LINE);
  }

  private static void addLine(ByteBuf to, char kind, int number) {
    to.writeByte(kind);
    ByteBufUtil.writeAscii(to, Integer.toString(number));
    to.writeBytes(END_OF_LINE);
  }
}
