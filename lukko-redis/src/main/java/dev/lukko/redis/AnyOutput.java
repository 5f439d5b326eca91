package dev.lukko.redis;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Takes any reply of the second version of the protocol; the reply is the one element of a list.
 */
final class AnyOutput extends CommandOutput<String, String, List<@Nullable Object>> {
  private static final int USUAL_ELEMENTS = 1_024;

  private final Deque<List<@Nullable Object>> open = new ArrayDeque<>();

  AnyOutput() {
    super(StringCodec.UTF8, new ArrayList<>());
  }

  private void add(@Nullable Object value) {
    (open.isEmpty() ? output : open.peek()).add(value);
  }

  @Override
  public void set(long integer) {
    add(integer);
  }

  @Override
  public void set(@Nullable ByteBuffer bytes) {
    add(bytes == null ? null : codec.decodeValue(bytes));
  }

  @Override
  public void setSingle(@Nullable ByteBuffer bytes) {
    set(bytes);
  }

  @Override
  public void multi(int count) {
    // No room for what is only announced.
    List<@Nullable Object> list = new ArrayList<>(Math.min(Math.max(0, count), USUAL_ELEMENTS));
    add(list);
    open.push(list);
  }

  @Override
  public void complete(int depth) {
    while (open.size() > depth) {
      open.pop();
    }
  }
}
