package dev.lukko.spring;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** What the library logs, as the platform's logger gets it. */
final class LogLines extends Handler implements AutoCloseable {
  private final Logger logger = Logger.getLogger("dev.lukko.spring");
  private final List<String> lines = new CopyOnWriteArrayList<>();

  LogLines() {
    logger.addHandler(this);
  }

  List<String> lines() {
    return lines;
  }

  @Override
  public void publish(LogRecord record) {
    lines.add(record.getLevel() + " " + new SimpleFormatter().formatMessage(record));
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    logger.removeHandler(this);
  }
}
