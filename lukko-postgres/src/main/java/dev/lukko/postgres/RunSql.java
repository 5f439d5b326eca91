package dev.lukko.postgres;

/**
 * The statements of the last runs.
 *
 * <p>The one row of a job decides: whoever writes it waits for its lock and then judges by what the
 * other has committed. The history follows in the same statement.
 */
final class RunSql {
  /** Parameters: job, tick, token, runner, outcomes after which the same tick may run again. */
  final String begin;

  /** Parameters: outcome, error, job, tick, token. */
  final String finish;

  final String last;
  final String history;
  final String prune;

  RunSql(String schema) {
    begin =
        alone(
            schema,
            """
        WITH asked AS MATERIALIZED (
          SELECT ?::text AS job, ?::timestamptz AS tick, ?::bigint AS token, ?::text AS runner,
                 ?::text[] AS rerun
        ), before AS MATERIALIZED (
          SELECT j.job, j.tick, j.token FROM ${s}.job j JOIN asked USING (job)
        ), begun AS (
          INSERT INTO ${s}.job AS j (job, tick, token, outcome)
          SELECT job, tick, token, 'RUNNING' FROM asked
          ON CONFLICT (job) DO UPDATE
            SET tick = excluded.tick, token = excluded.token, outcome = excluded.outcome
            WHERE (j.token < excluded.token
                   AND (j.tick < excluded.tick
                        OR (j.tick = excluded.tick
                            AND j.outcome = ANY ((SELECT rerun FROM asked)::text[]))))
               OR (j.token = excluded.token AND j.tick = excluded.tick AND j.outcome = 'RUNNING')
          RETURNING j.job
        ), abandoned AS (
          UPDATE ${s}.job_run r SET outcome = 'ABANDONED', finished_at = clock_timestamp()
          FROM before b, asked a, begun
          WHERE r.job = b.job AND r.tick = b.tick AND r.token = b.token AND r.token <> a.token
            AND r.outcome = 'RUNNING'
        ), written AS (
          INSERT INTO ${s}.job_run (job, tick, token, runner)
          SELECT a.job, a.tick, a.token, a.runner FROM asked a JOIN begun USING (job)
          ON CONFLICT DO NOTHING
        )
        SELECT job FROM begun
        """);
    finish =
        alone(
            schema,
            """
        WITH ended AS MATERIALIZED (
          SELECT ?::text AS outcome, ?::text AS error, ?::text AS job, ?::timestamptz AS tick,
                 ?::bigint AS token
        ), last AS (
          UPDATE ${s}.job j SET outcome = e.outcome FROM ended e
          WHERE j.job = e.job AND j.tick = e.tick AND j.token = e.token
          RETURNING j.job
        ), written AS (
          UPDATE ${s}.job_run r
          SET outcome = e.outcome, error = e.error, finished_at = clock_timestamp()
          FROM ended e WHERE r.job = e.job AND r.tick = e.tick AND r.token = e.token
        )
        SELECT EXISTS (SELECT 1 FROM last)
        """);
    last = "SELECT tick, outcome FROM " + schema + ".job WHERE job = ?";
    history =
        alone(
            schema,
            """
        SELECT job, tick, token, runner, started_at, finished_at, outcome, error FROM ${s}.job_run
        WHERE job = ? ORDER BY tick DESC, token DESC LIMIT ?
        """);
    prune =
        alone(
            schema,
            """
        DELETE FROM ${s}.job_run r USING ${s}.job j
        WHERE r.job = ? AND r.tick < ? AND j.job = r.job AND r.tick < j.tick
        """);
  }

  private static String alone(String schema, String statement) {
    return QueueCalls.alone(statement.replace("${s}", schema));
  }
}
