package dev.lukko.redis;

import dev.lukko.LockException;
import dev.lukko.fencing.FenceArguments;
import dev.lukko.schedule.JobRun;
import dev.lukko.schedule.JobRun.Outcome;
import dev.lukko.schedule.LastRunStore;
import io.lettuce.core.api.sync.RedisScriptingCommands;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the last runs of jobs, and their history, on a Redis server or cluster, by the server's
 * clock. Each call is one script.
 *
 * <p>It remembers as long as the server does: one that restarts without its data, or fails over to
 * a replica that lags behind, has forgotten runs, and their ticks run again. Keep it where an
 * append-only file is flushed at each write, or use a database.
 *
 * <p>The connection is the caller's, with its timeouts; its exceptions pass unchanged. Ticks are
 * from 1970 on. Immutable and thread-safe.
 */
public final class RedisLastRunStore implements LastRunStore {
  private static final ResourceScript NOW = new ResourceScript("run-now.lua");
  private static final ResourceScript BEGIN = new ResourceScript("run-begin.lua");
  private static final ResourceScript FINISH = new ResourceScript("run-finish.lua");
  private static final ResourceScript HISTORY = new ResourceScript("run-history.lua");
  private static final ResourceScript PRUNE = new ResourceScript("run-prune.lua");
  private static final long MAX_NUMBER = 1L << 53; // Beyond that, numbers in scripts are not exact.
  private static final int MAX_RUNNER = 255;
  private static final int MAX_ERROR = 2_000;

  private final RedisScriptingCommands<String, String> commands;

  private RedisLastRunStore(RedisScriptingCommands<String, String> commands) {
    this.commands = Objects.requireNonNull(commands, "commands");
  }

  /**
   * A store under the keys {@code lukko:job:{name}...}.
   *
   * @param commands {@code connection.sync()} of one server or of a cluster
   */
  public static RedisLastRunStore over(RedisScriptingCommands<String, String> commands) {
    return new RedisLastRunStore(commands);
  }

  @Override
  public Instant now() {
    String[] none = {};
    return instant(ResourceScript.answered(() -> NOW.number(commands, none)));
  }

  @Override
  public Decision begin(
      String job, Instant tick, long fencingToken, String runner, Set<Outcome> rerunAfter) {
    String[] keys = keys(job);
    List<String> arguments = new ArrayList<>();
    arguments.add(Long.toString(micros("tick", tick)));
    arguments.add(Long.toString(token(fencingToken)));
    arguments.add(id(tick, fencingToken));
    arguments.add(JobRun.storable(runner, MAX_RUNNER));
    rerunAfter.forEach(outcome -> arguments.add(outcome.name()));
    String[] all = arguments.toArray(new String[0]);
    long reply = ResourceScript.answered(() -> BEGIN.number(commands, keys, all));
    return reply == 1 ? Decision.BEGUN : reply == 2 ? Decision.HAD_ITS_RUN : Decision.STALE_TOKEN;
  }

  @Override
  public boolean finish(
      String job, Instant tick, long fencingToken, Outcome outcome, Optional<String> error) {
    String[] keys = keys(job);
    List<String> arguments = new ArrayList<>(List.of(id(tick, fencingToken), outcome.name()));
    error.ifPresent(text -> arguments.add(JobRun.storable(text, MAX_ERROR)));
    String[] all = arguments.toArray(new String[0]);
    return ResourceScript.answered(() -> FINISH.number(commands, keys, all)) == 1;
  }

  @Override
  public List<JobRun> history(String job, int limit) {
    String[] keys = keys(job);
    if (limit < 1) {
      throw new IllegalArgumentException("limit is " + limit + "; it must be at least 1");
    }
    List<@Nullable Object> reply =
        ResourceScript.answered(() -> HISTORY.list(commands, keys, Integer.toString(limit)));
    List<JobRun> runs = new ArrayList<>();
    for (Object one : reply) {
      try {
        runs.add(run(job, (List<?>) Objects.requireNonNull(one)));
      } catch (RuntimeException garbage) { // whatever another program has written there
        throw new LockException("the history of job " + job + " holds garbage", garbage);
      }
    }
    return runs;
  }

  private static JobRun run(String job, List<?> row) {
    String[] id = text(row, 0).split(":", 2);
    return new JobRun(
        job,
        instant(Long.parseLong(id[0])),
        Long.parseLong(id[1]),
        text(row, 1),
        instant(Long.parseLong(text(row, 2))),
        Optional.ofNullable((String) row.get(3)).map(at -> instant(Long.parseLong(at))),
        Outcome.named(text(row, 4)).orElseThrow(),
        Optional.ofNullable((String) row.get(5)));
  }

  private static String text(List<?> row, int index) {
    return (String) Objects.requireNonNull(row.get(index), "an entry of the history is not whole");
  }

  @Override
  public void prune(String job, Instant before) {
    String[] keys = keys(job);
    String from = padded(micros("before", before));
    var unused = ResourceScript.answered(() -> PRUNE.number(commands, keys, from));
  }

  /** All keys of a job are in one slot of a cluster. */
  private static String[] keys(String job) {
    String key = "lukko:job:{" + FenceArguments.name("job", job) + "}";
    return new String[] {key, key + ":order", key + ":runs"};
  }

  /** Sorts as text as tick and token do as numbers. */
  private static String id(Instant tick, long token) {
    return padded(micros("tick", tick)) + ":" + padded(token(token));
  }

  private static String padded(long number) {
    return String.format(Locale.ROOT, "%016d", number);
  }

  private static long micros(String field, Instant instant) {
    long micros = ChronoUnit.MICROS.between(Instant.EPOCH, instant);
    if (micros < 0 || micros >= MAX_NUMBER) {
      throw new IllegalArgumentException(
          field + " is " + instant + "; it must be between 1970 and 2255");
    }
    return micros;
  }

  private static long token(long token) {
    if (token < 0 || token >= MAX_NUMBER) {
      throw new IllegalArgumentException(
          "fencingToken is " + token + "; it must be between 0 and " + (MAX_NUMBER - 1));
    }
    return token;
  }

  private static Instant instant(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }
}
