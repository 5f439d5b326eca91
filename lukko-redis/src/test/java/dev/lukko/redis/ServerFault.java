package dev.lukko.redis;

import static org.awaitility.Awaitility.await;

import dev.lukko.testkit.RedisCommandException;
import dev.lukko.testkit.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

/** A fault in which a server answers, with an error of its own class, and how to bring it about. */
enum ServerFault {
  OOM {
    @Override
    void inflict(RedisServer server) {
      server.command("CONFIG", "SET", "maxmemory", "1");
    }

    @Override
    void end(RedisServer server) {
      server.command("CONFIG", "SET", "maxmemory", "0");
    }
  },

  MISCONF {
    @Override
    void inflict(RedisServer server) {
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
    void end(RedisServer server) {
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
    void inflict(RedisServer server) {
      CompletableFuture.runAsync(
          () -> server.command("EVAL", "local n = 0 while n >= 0 do n = n + 1 end", "0"));
      await().until(() -> errorOf(server).startsWith("BUSY"));
    }

    @Override
    void end(RedisServer server) {
      server.command("SCRIPT", "KILL");
    }
  },

  LOADING {
    @Override
    void inflict(RedisServer server) {
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
    void end(RedisServer server) {
      server.command("CONFIG", "SET", "key-load-delay", "0");
      await().until(() -> errorOf(server).isEmpty());
    }
  },

  READONLY {
    @Override
    void inflict(RedisServer server) {
      server.command("REPLICAOF", "127.0.0.1", "1");
    }

    @Override
    void end(RedisServer server) {
      server.command("REPLICAOF", "NO", "ONE");
    }
  },

  MASTERDOWN {
    @Override
    void inflict(RedisServer server) {
      server.command("CONFIG", "SET", "replica-serve-stale-data", "no");
      READONLY.inflict(server);
    }

    @Override
    void end(RedisServer server) {
      READONLY.end(server);
    }
  },

  NOREPLICAS {
    @Override
    void inflict(RedisServer server) {
      server.command("CONFIG", "SET", "min-replicas-to-write", "1");
    }

    @Override
    void end(RedisServer server) {
      server.command("CONFIG", "SET", "min-replicas-to-write", "0");
    }
  },

  NOPERM {
    @Override
    void inflict(RedisServer server) {
      server.command("ACL", "SETUSER", "default", "-evalsha", "-eval");
    }

    @Override
    void end(RedisServer server) {
      server.command("ACL", "SETUSER", "default", "+evalsha", "+eval");
    }
  },

  /** Takes effect with the next connection. */
  NOAUTH {
    @Override
    void inflict(RedisServer server) {
      server.command("CONFIG", "SET", "requirepass", "secret");
    }

    @Override
    void end(RedisServer server) {
      RedisClient client = RedisClient.create(server.url().replace("//", "//:secret@"));
      try (StatefulRedisConnection<String, String> connection = client.connect()) {
        connection.sync().configSet("requirepass", "");
      } finally {
        client.shutdown();
      }
    }
  };

  abstract void inflict(RedisServer server);

  abstract void end(RedisServer server);

  /** With what error a server answers a read, empty if with none. */
  static String errorOf(RedisServer server) {
    try {
      server.command("GET", "anything");
      return "";
    } catch (RedisCommandException error) {
      return String.valueOf(error.getMessage());
    }
  }
}
