package dev.lukko.jdbc;

import dev.lukko.spi.FleetRecord;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A statement whose parameters have names: {@code :owner} instead of the fourth question mark. */
final class NamedSql {
  private static final Pattern PARAMETER = Pattern.compile(":([a-z]+)");

  private final DialectTraits traits;
  private final String sql;
  private final List<String> parameters;

  private NamedSql(DialectTraits traits, String sql, List<String> parameters) {
    this.traits = traits;
    this.sql = sql;
    this.parameters = parameters;
  }

  /**
   * Translates a text with named parameters.
   *
   * @param names how many names {@code :names} stands for
   */
  static NamedSql of(DialectTraits traits, String text, int names) {
    List<String> parameters = new ArrayList<>();
    Matcher matcher = PARAMETER.matcher(text);
    StringBuilder sql = new StringBuilder();
    while (matcher.find()) {
      String parameter = matcher.group(1);
      parameters.add(parameter);
      int marks = parameter.equals("names") ? names : 1;
      matcher.appendReplacement(sql, "?" + ", ?".repeat(marks - 1));
    }
    matcher.appendTail(sql);
    return new NamedSql(traits, sql.toString(), List.copyOf(parameters));
  }

  /** The prepared statement of this session, with all parameters bound. */
  PreparedStatement bind(Session session, Values values) throws SQLException {
    PreparedStatement statement = session.prepared(sql);
    int index = 0;
    for (String parameter : parameters) {
      switch (parameter) {
        case "name" -> traits.setText(statement, ++index, values.names().get(0));
        case "names" -> {
          for (String name : values.names()) {
            traits.setText(statement, ++index, name);
          }
        }
        case "owner" -> traits.setText(statement, ++index, values.owner());
        case "ttl" -> statement.setLong(++index, values.ttlMicros());
        case "counter" -> statement.setLong(++index, values.counter());
        case "before" -> statement.setLong(++index, values.beforeMicros());
        case "fleet" -> traits.setText(statement, ++index, FleetRecord.keyOf(values.seen()));
        case "seen" -> traits.setText(statement, ++index, values.seen());
        case "run" -> traits.setText(statement, ++index, session.run());
        case "mark" -> statement.setLong(++index, LockRow.readersMark(values.counter()));
        default -> throw new IllegalStateException("no parameter is called " + parameter);
      }
    }
    return statement;
  }

  /** Writes; the number of rows that were changed. */
  int update(Session session, Values values) throws SQLException {
    return bind(session, values).executeUpdate();
  }

  /**
   * What the parameters stand for.
   *
   * @param ttlMicros a duration in microseconds
   * @param beforeMicros before which moment of the database's clock it is done, in microseconds
   * @param seen what the client has seen of the record that is compared; empty if nothing
   */
  record Values(
      List<String> names,
      String owner,
      long ttlMicros,
      long counter,
      long beforeMicros,
      String seen) {

    Values(List<String> names, String owner, long ttlMicros, long counter) {
      this(names, owner, ttlMicros, counter, Long.MAX_VALUE, "");
    }

    Values withCounter(long other) {
      return new Values(names, owner, ttlMicros, other, beforeMicros, seen);
    }

    Values withNames(List<String> others) {
      return new Values(others, owner, ttlMicros, counter, beforeMicros, seen);
    }

    /** For a statement that is too late once the database's clock has passed this millisecond. */
    Values upTo(long lastMillis) {
      long before =
          lastMillis < Long.MAX_VALUE / 1_000 - 1 ? (lastMillis + 1) * 1_000 : Long.MAX_VALUE;
      return new Values(names, owner, ttlMicros, counter, before, seen);
    }
  }
}
