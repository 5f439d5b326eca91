package dev.lukko.cli.demo;

import java.io.PrintWriter;

/**
 * Where the story is told: lines, and one line of progress that is drawn again and again where that
 * is a terminal. Thread-safe.
 */
public final class Screen {

  private static final String CLEAR_LINE = "\r\u001B[K";
  private static final String BOLD = "\u001B[1m";
  private static final String RED = "\u001B[31m";
  private static final String GREEN = "\u001B[32m";
  private static final String PLAIN = "\u001B[0m";

  private final PrintWriter out;
  private final boolean live;
  private final boolean colour;
  private boolean drawn;

  /**
   * A screen.
   *
   * @param out where to write
   * @param live whether that is a terminal, on which a line can be drawn again
   * @param colour whether to use colours
   */
  public Screen(PrintWriter out, boolean live, boolean colour) {
    this.out = out;
    this.live = live;
    this.colour = colour;
  }

  boolean isLive() {
    return live;
  }

  synchronized void line(String text) {
    wipe();
    out.println(text);
    out.flush();
  }

  void heading(String text) {
    line("");
    line(in(BOLD, text));
  }

  /** Draws the line of progress; shows nothing where it could not be drawn again. */
  synchronized void progress(String text) {
    if (live) {
      out.print(CLEAR_LINE + text);
      out.flush();
      drawn = true;
    }
  }

  String bad(String text) {
    return in(RED, text);
  }

  String good(String text) {
    return in(GREEN, text);
  }

  private String in(String style, String text) {
    return colour ? style + text + PLAIN : text;
  }

  /** Removes the line of progress, so that what follows begins on an empty line. */
  synchronized void wipe() {
    if (drawn) {
      out.print(CLEAR_LINE);
      out.flush();
      drawn = false;
    }
  }
}
