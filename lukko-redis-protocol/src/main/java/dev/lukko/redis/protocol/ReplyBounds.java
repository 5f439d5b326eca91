package dev.lukko.redis.protocol;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Reads along what a server sends, and refuses a reply that announces more than any reply to a node
 * can have: drivers make room for what is announced, and twelve bytes could take all memory.
 *
 * <p>Knows both versions of the protocol. Not thread-safe.
 */
public final class ReplyBounds {
  /** The most bytes of one text; {@code INFO} has some 10 KB. */
  public static final int MAX_TEXT = 16 << 20;

  /** The most elements of all lists of one reply together. */
  public static final int MAX_ELEMENTS = 1 << 17;

  /** The most lists inside one another. */
  public static final int MAX_DEPTH = 8;

  private static final int LONGEST_NUMBER = 20;

  /** How many replies are still to come in each list that is open. */
  private final Deque<Long> open = new ArrayDeque<>();

  private final StringBuilder number = new StringBuilder(LONGEST_NUMBER);
  private char type;
  private boolean inLine;
  private long elements;
  private long textLeft;
  private long lineLength;

  /** Nothing read yet. */
  public ReplyBounds() {}

  /**
   * Reads on.
   *
   * @throws IOException if what is announced is too much
   */
  public void read(byte[] bytes, int from, int length) throws IOException {
    int i = from;
    int end = from + length;
    while (i < end) {
      if (textLeft > 0) {
        int skipped = (int) Math.min(textLeft, end - i);
        textLeft -= skipped;
        i += skipped;
        if (textLeft == 0) {
          ended();
        }
      } else {
        read((char) (bytes[i++] & 0xff));
      }
    }
  }

  private void read(char c) throws IOException {
    if (!inLine) {
      type = c;
      inLine = true;
      number.setLength(0);
      lineLength = 0;
    } else if (c == '\n') {
      inLine = false;
      onLine();
    } else if (++lineLength > MAX_TEXT) {
      throw refused("a line", lineLength);
    } else if (c != '\r' && number.length() < LONGEST_NUMBER) {
      number.append(c);
    }
  }

  private void onLine() throws IOException {
    switch (type) {
      case '$', '=', '!' -> {
        long bytes = announced();
        if (bytes > MAX_TEXT) {
          throw refused("a text", bytes);
        }
        if (bytes < 0) {
          ended();
        } else {
          textLeft = bytes + 2; // and the end of the line
        }
      }
      case '*', '~', '>' -> openList(announced());
      case '%' -> openList(2 * announced());
      case '|' -> openList(2 * announced() + 1); // what it describes follows
      default -> ended();
    }
  }

  private void openList(long size) throws IOException {
    elements += Math.max(0, size);
    if (elements > MAX_ELEMENTS || open.size() >= MAX_DEPTH) {
      throw refused("lists", elements);
    }
    if (size <= 0) {
      ended();
    } else {
      open.push(size);
    }
  }

  /** A reply is complete, and with it perhaps the lists of which it is the last. */
  private void ended() {
    while (!open.isEmpty()) {
      long left = open.pop() - 1;
      if (left > 0) {
        open.push(left);
        return;
      }
    }
    elements = 0;
  }

  private long announced() throws IOException {
    try {
      return Math.min(Long.parseLong(number.toString()), Integer.MAX_VALUE);
    } catch (NumberFormatException streamed) {
      throw new IOException("the reply announces no length; the connection is given up");
    }
  }

  private static IOException refused(String what, long size) {
    return new IOException(
        "the reply announces " + what + " of " + size + "; that is no reply to a lock's request");
  }
}
