package dev.lukko.text;

/**
 * Text that came from elsewhere, as it may be shown: on one line, without anything by which it
 * could act on a terminal, forge a line of a log, or fill it.
 *
 * <p>What stands at a key, what a server replies, and what another process has told may be anything
 * at all. The types by which it reaches callers ({@code Holder}, {@code NodeAnswer}, the faults and
 * states of nodes) pass it through here when they are made, so that no way around is left.
 */
public final class Printable {
  /** The longest text that is shown whole, in characters. */
  public static final int MAX_LENGTH = 2_000;

  private static final String CUT = "...";

  private Printable() {}

  /** The text with controls, directions and line breaks escaped, cut at {@link #MAX_LENGTH}. */
  public static String of(String text) {
    return upTo(MAX_LENGTH, text);
  }

  /** The same without a cut, for a sentence of Lukko's own that quotes what came from elsewhere. */
  public static String whole(String text) {
    return upTo(Integer.MAX_VALUE, text);
  }

  private static String upTo(int most, String text) {
    int length = Math.min(text.length(), most);
    for (int i = 0; i < length; i++) {
      char c = text.charAt(i);
      if (c < ' ' || c > '~') {
        return escaped(most, text, i);
      }
    }
    return text.length() <= most ? text : text.substring(0, most) + CUT;
  }

  private static String escaped(int most, String text, int plain) {
    StringBuilder shown = new StringBuilder(text.length() + 16).append(text, 0, plain);
    int i = plain;
    while (i < text.length()) {
      if (shown.length() >= most) {
        return shown.append(CUT).toString();
      }
      int point = text.codePointAt(i);
      if (isShown(point)) {
        shown.appendCodePoint(point);
      } else if (point == '\n') {
        shown.append("\\n");
      } else if (point == '\t') {
        shown.append("\\t");
      } else {
        shown.append(String.format(point > 0xffff ? "\\u{%x}" : "\\u%04x", point));
      }
      i += Character.charCount(point);
    }
    return shown.toString();
  }

  private static boolean isShown(int point) {
    return switch (Character.getType(point)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED ->
          false;
      default -> true;
    };
  }
}
