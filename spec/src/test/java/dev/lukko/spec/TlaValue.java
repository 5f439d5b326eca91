package dev.lukko.spec;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * A parser of the values that TLC prints: numbers, strings, booleans and model values; sets; and
 * functions. They become Integer, String, Boolean, Set and Map.
 */
final class TlaValue {
  private final String text;
  private int at;

  private TlaValue(String text) {
    this.text = text;
  }

  static Object parse(String text) {
    TlaValue parser = new TlaValue(text);
    Object value = parser.value();
    parser.blanks();
    if (parser.at != text.length()) {
      throw parser.unexpected();
    }
    return value;
  }

  private Object value() {
    blanks();
    if (accept("{")) {
      return set();
    }
    if (accept("(")) {
      return function();
    }
    if (accept("\"")) {
      int end = text.indexOf('"', at);
      String string = text.substring(at, end);
      at = end + 1;
      return string;
    }
    String word = word();
    if (word.equals("TRUE") || word.equals("FALSE")) {
      return word.equals("TRUE");
    }
    return Character.isDigit(word.charAt(0)) ? (Object) Integer.valueOf(word) : word;
  }

  private Set<Object> set() {
    Set<Object> members = new LinkedHashSet<>();
    while (!accept("}")) {
      members.add(value());
      accept(",");
    }
    return members;
  }

  private Map<String, Object> function() {
    Map<String, Object> pairs = new LinkedHashMap<>();
    while (!accept(")")) {
      blanks();
      String key = word();
      if (!accept(":>")) {
        throw unexpected();
      }
      pairs.put(key, value());
      accept("@@");
    }
    return pairs;
  }

  private String word() {
    int start = at;
    while (at < text.length() && Character.isLetterOrDigit(text.charAt(at))) {
      at++;
    }
    if (at == start) {
      throw unexpected();
    }
    return text.substring(start, at);
  }

  private boolean accept(String token) {
    blanks();
    if (text.startsWith(token, at)) {
      at += token.length();
      return true;
    }
    return false;
  }

  private void blanks() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
  }

  private IllegalArgumentException unexpected() {
    return new IllegalArgumentException("not a value of TLC, at character " + at + ": " + text);
  }
}
