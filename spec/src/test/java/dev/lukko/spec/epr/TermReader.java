package dev.lukko.spec.epr;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads terms. What follows a semicolon on its line is a comment. */
final class TermReader {
  private static final Pattern TOKEN = Pattern.compile(";[^\n]*|[()]|[^\\s();]+");

  private TermReader() {}

  static List<Term> read(String text) {
    Deque<List<Term>> open = new ArrayDeque<>();
    open.push(new ArrayList<>());
    Matcher tokens = TOKEN.matcher(text);
    while (tokens.find()) {
      String token = tokens.group();
      if (token.equals("(")) {
        open.push(new ArrayList<>());
      } else if (token.equals(")")) {
        List<Term> parts = open.pop();
        if (open.isEmpty()) {
          throw new IllegalArgumentException(
              "a parenthesis too many in line " + line(text, tokens.start()));
        }
        open.element().add(new Term.Group(parts));
      } else if (!token.startsWith(";")) {
        open.element().add(Term.name(token));
      }
    }
    List<Term> terms = open.pop();
    if (!open.isEmpty()) {
      throw new IllegalArgumentException("%d parentheses are not closed".formatted(open.size()));
    }
    return terms;
  }

  private static long line(String text, int at) {
    return text.substring(0, at).lines().count();
  }
}
