package dev.lukko.bench.soak;

import dev.lukko.fencing.StaleTokenException;
import dev.lukko.redis.RedisFence;
import io.lettuce.core.api.sync.RedisCommands;

/** How the pages of the set are read and written as a whole, which is what a race would spoil. */
interface Pages {

  /** The page; empty if there is none yet. */
  String read(int page, long token) throws StaleTokenException;

  void write(int page, String content, long token) throws StaleTokenException;

  static String key(int page) {
    return "set:" + page;
  }

  /** Pages that refuse what an overtaken holder does. */
  static Pages fenced(RedisCommands<String, String> commands) {
    RedisFence fence = RedisFence.over(commands);
    return new Pages() {
      @Override
      public String read(int page, long token) {
        return fence.get(key(page), token).orElse("");
      }

      @Override
      public void write(int page, String content, long token) {
        fence.set(key(page), content, token);
      }
    };
  }

  /** Pages that take whatever comes. */
  static Pages plain(RedisCommands<String, String> commands) {
    return new Pages() {
      @Override
      public String read(int page, long token) {
        String content = commands.get(key(page));
        return content == null ? "" : content;
      }

      @Override
      public void write(int page, String content, long token) {
        commands.set(key(page), content);
      }
    };
  }
}
