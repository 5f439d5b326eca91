package dev.lukko.jdbc;

import dev.lukko.fencing.StaleTokenException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.SQLException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The fence as a PostgreSQL trigger.
 *
 * <p>A row trigger cannot see whether the statement set the column or the column just kept its
 * value, so there are two, which run in the order of their names. The first runs only if the column
 * is in the {@code SET} list and turns its value negative: a mark that it was given. The second
 * always runs, takes the mark off, and refuses what has none.
 */
final class FenceTrigger {
  /** The SQLSTATE of a refusal: a class of our own. */
  static final String SQL_STATE = "LKF01";

  private static final Pattern REFUSAL =
      Pattern.compile("stale fencing token (\\d+) for \"([^\"]*)\": highest seen is (\\d+)");

  private static final String PREFIX = "lukko_fence_";
  private static final int MAX_IDENTIFIER = 63;
  private static final int MAX_NAME = MAX_IDENTIFIER - PREFIX.length() - "_2_check".length();

  private FenceTrigger() {}

  static String ddl(String table, String column) {
    String name = table.substring(table.indexOf('.') + 1).toLowerCase(Locale.ROOT);
    String base = PREFIX + shortened(name);
    String schema = table.substring(0, table.indexOf('.') + 1);
    return (name.length() <= MAX_NAME ? TEMPLATE : DROP_CUT + TEMPLATE)
        .replace("${cut_mark}", cut(PREFIX + name + "_1_mark"))
        .replace("${cut_check}", cut(PREFIX + name + "_2_check"))
        .replace("${mark}", schema + base + "_mark")
        .replace("${check}", schema + base + "_check")
        .replace("${trigger}", base)
        .replace("${table}", table)
        .replace("${column}", column)
        .replace("${state}", SQL_STATE);
  }

  private static String cut(String name) {
    return name.substring(0, Math.min(MAX_IDENTIFIER, name.length()));
  }

  /** PostgreSQL cuts names at 63 characters, so that all of our names for a table would be one. */
  private static String shortened(String table) {
    if (table.length() <= MAX_NAME) {
      return table;
    }
    byte[] digest;
    try {
      digest = MessageDigest.getInstance("SHA-256").digest(table.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException missing) {
      throw new IllegalStateException("every Java platform has SHA-256", missing);
    }
    String mark = "_" + HexFormat.of().formatHex(digest, 0, 6);
    return table.substring(0, MAX_NAME - mark.length()) + mark;
  }

  static Optional<StaleTokenException> staleToken(SQLException failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql
          && SQL_STATE.equals(sql.getSQLState())
          && sql.getMessage() != null) {
        Matcher refusal = REFUSAL.matcher(sql.getMessage());
        if (refusal.find()) {
          StaleTokenException stale =
              new StaleTokenException(
                  refusal.group(2),
                  Long.parseLong(refusal.group(1)),
                  Long.parseLong(refusal.group(3)));
          stale.initCause(failure);
          return Optional.of(stale);
        }
      }
    }
    return Optional.empty();
  }

  /** What was created before long names were shortened. */
  private static final String DROP_CUT =
      """
      DROP TRIGGER IF EXISTS ${cut_mark} ON ${table};
      DROP TRIGGER IF EXISTS ${cut_check} ON ${table};
      """;

  private static final String TEMPLATE =
      """
      -- Refuses updates of ${table} whose fencing token is missing or lower than the row's.
      CREATE OR REPLACE FUNCTION ${mark}() RETURNS trigger LANGUAGE plpgsql AS $fence$
      BEGIN
        IF NEW.${column} IS NULL OR NEW.${column} < 0 THEN
          RAISE EXCEPTION 'fencing token % for "${table}" is not valid', NEW.${column}
            USING ERRCODE = '22023';
        END IF;
        NEW.${column} := -NEW.${column} - 1;
        RETURN NEW;
      END
      $fence$;

      CREATE OR REPLACE FUNCTION ${check}() RETURNS trigger LANGUAGE plpgsql AS $fence$
      BEGIN
        IF NEW.${column} IS NULL OR NEW.${column} >= 0
            OR (OLD.${column} < 0 AND NEW.${column} = OLD.${column}) THEN
          RAISE EXCEPTION 'update of "${table}" without a fencing token'
            USING ERRCODE = '22004', HINT = 'Set column ${column} to the token of your lease.';
        END IF;
        NEW.${column} := -(NEW.${column} + 1);
        IF NEW.${column} < OLD.${column} THEN
          RAISE EXCEPTION 'stale fencing token % for "${table}": highest seen is %',
            NEW.${column}, OLD.${column} USING ERRCODE = '${state}';
        END IF;
        RETURN NEW;
      END
      $fence$;

      DROP TRIGGER IF EXISTS ${trigger}_1_mark ON ${table};
      CREATE TRIGGER ${trigger}_1_mark BEFORE UPDATE OF ${column} ON ${table}
        FOR EACH ROW EXECUTE FUNCTION ${mark}();
      DROP TRIGGER IF EXISTS ${trigger}_2_check ON ${table};
      CREATE TRIGGER ${trigger}_2_check BEFORE UPDATE ON ${table}
        FOR EACH ROW EXECUTE FUNCTION ${check}();
      """;
}
