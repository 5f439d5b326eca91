package dev.lukko.redis.testing;

import static org.awaitility.Awaitility.await;

import dev.lukko.testkit.RedisCommandException;
import dev.lukko.testkit.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

/** A fault in which a server answers, with an error of its own class, and how to bring it about. */
public enum ServerFault {
  OOM {
    @Override
    public void inflict(RedisServer server) {
      server.command("CONFIG", "SET", "maxmemory", "1");
    }

    @Override
    public void end(RedisServer server) {
      server.command("CONFIG", "SET", "maxmemory", "0");
    }
  },

  MISCONF {
    @Override
    public void inflict(RedisServer server) {
      try {
        Files.createDirectories(inTheWay(server));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      server.command("CONFIG", "SET", "save", "3600 1000000");
      server.command("BGSAVE");
      await()
          .until(
              () ->
                  String.valueOf(server.command("INFO", "persistence"))
                      .contains("rdb_last_bgsave_status:err"));
    }

    @Override
    public void end(RedisServer server) {
      server.command("CONFIG", "SET", "stop-writes-on-bgsave-error", "no");
      try {
        Files.delete(inTheWay(server));
        Files.delete(inTheWay(server).getParent());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private Path inTheWay(RedisServer server) {
      return server.directory().resolve("dump.rdb").resolve("in-the-way");
    }
  },

  BUSY {
    @Override
    public void inflict(RedisServer server) {
      CompletableFuture.runAsync(
          () -> server.command("EVAL", "local n = 0 while n >= 0 do n = n + 1 end", "0"));
      await().until(() -> errorOf(server).startsWith("BUSY"));
    }

    @Override
    public void end(RedisServer server) {
      server.command("SCRIPT", "KILL");
      await().until(() -> errorOf(server).isEmpty()); // it ends a moment after the reply
    }
  },

  LOADING {
    @Override
    public void inflict(RedisServer server) {
      server.command("CONFIG", "SET", "rdbcompression", "no"); // so that it looks up often enough
      for (int i = 0; i < 200; i++) {
        server.command("SET", "filler" + i, "x".repeat(2_000));
      }
      server.command("CONFIG", "SET", "loading-process-events-interval-bytes", "1024");
      server.command("CONFIG", "SET", "key-load-delay", "20000");
      CompletableFuture.runAsync(() -> server.command("DEBUG", "RELOAD"));
      await().until(() -> errorOf(server).startsWith("LOADING"));
    }

    @Override
    public void end(RedisServer server) {
      server.command("CONFIG", "SET", "key-load-delay", "0");
      await().until(() -> errorOf(server).isEmpty());
    }
  },

  READONLY {
    @Override
    public void inflict(RedisServer server) {
      server.command("REPLICAOF", "127.0.0.1", "1");
    }

    @Override
    public void end(RedisServer server) {
      server.command("REPLICAOF", "NO", "ONE");
    }
  },

  MASTERDOWN {
    @Override
    public void inflict(RedisServer server) {
      server.command("CONFIG", "SET", "replica-serve-stale-data", "no");
      READONLY.inflict(server);
    }

    @Override
    public void end(RedisServer server) {
      READONLY.end(server);
    }
  },

  NOREPLICAS {
    @Override
    public void inflict(RedisServer server) {
      server.command("CONFIG", "SET", "min-replicas-to-write", "1");
    }

    @Override
    public void end(RedisServer server) {
      server.command("CONFIG", "SET", "min-replicas-to-write", "0");
    }
  },

  NOPERM {
    @Override
    public void inflict(RedisServer server) {
      server.command("ACL", "SETUSER", "default", "-evalsha", "-eval");
    }

    @Override
    public void end(RedisServer server) {
      server.command("ACL", "SETUSER", "default", "+evalsha", "+eval");
    }
  },

  /** Takes effect with the next connection. */
  NOAUTH {
    @Override
    public void inflict(RedisServer server) {
      server.command("CONFIG", "SET", "requirepass", "secret");
    }

    @Override
    public void end(RedisServer server) {
      server.commandWithPassword("secret", "CONFIG", "SET", "requirepass", "");
    }
  };

  public abstract void inflict(RedisServer server);

  public abstract void end(RedisServer server);

  /** With what error a server answers a read, empty if with none. */
  public static String errorOf(RedisServer server) {
    try {
      server.command("GET", "anything");
      return "";
    } catch (RedisCommandException error) {
      return String.valueOf(error.getMessage());
    }
  }
}
