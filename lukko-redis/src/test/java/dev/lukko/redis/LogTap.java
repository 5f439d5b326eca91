package dev.lukko.redis;

import java.text.MessageFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What is logged below a name, for as long as it is open. */
final class LogTap extends Handler implements AutoCloseable {
  private final Logger logger;
  private final List<LogRecord> records = new CopyOnWriteArrayList<>();

  private LogTap(Logger logger) {
    this.logger = logger;
  }

  static LogTap on(String name) {
    LogTap tap = new LogTap(Logger.getLogger(name));
    tap.logger.addHandler(tap);
    return tap;
  }

  List<String> all() {
    return records.stream().map(LogTap::text).toList();
  }

  List<String> warnings() {
    return records.stream()
        .filter(line -> line.getLevel().intValue() >= Level.WARNING.intValue())
        .map(LogTap::text)
        .toList();
  }

  private static String text(LogRecord line) {
    Object[] values = line.getParameters();
    return values == null ? line.getMessage() : MessageFormat.format(line.getMessage(), values);
  }

  @Override
  public void publish(LogRecord line) {
    records.add(line);
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    logger.removeHandler(this);
  }
}
