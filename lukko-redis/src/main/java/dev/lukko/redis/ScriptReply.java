package dev.lukko.redis;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a script returns, a number, a text, or a flat list of them, as a list in any case. */
final class ScriptReply extends CommandOutput<String, String, List<Object>> {
  private static final int USUAL_ELEMENTS = 16;

  private boolean isList;

  ScriptReply() {
    super(StringCodec.UTF8, List.of());
  }

  @Override
  public void set(long integer) {
    add(integer);
  }

  @Override
  public void set(@Nullable ByteBuffer text) {
    add(text == null ? "" : StandardCharsets.UTF_8.decode(text).toString());
  }

  @Override
  public void multi(int count) {
    isList = true;
    output =
        new ArrayList<>(Math.min(Math.max(0, count), USUAL_ELEMENTS)); // not all that is announced
  }

  private void add(Object element) {
    if (isList) {
      output.add(element);
    } else {
      output = List.of(element);
    }
  }
}
