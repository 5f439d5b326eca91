package dev.lukko.text;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An address as it may be shown, whatever it is.
 *
 * <p>Nobody can tell where the password is in an address that cannot be read. So nothing is shown
 * as it was given: only a scheme that is known, and of what follows only a place that is one beyond
 * doubt. All else becomes {@code ...}, and user and password {@code ***}.
 */
public final class PrintableAddress {
  private static final String HIDDEN = "...";
  private static final String STARS = "***";
  private static final int SHORTEST_SECRET = 4;

  private static final String SCHEMES =
      "rediss?(?:-sentinel|-cluster)?|redis-socket|mongodb(?:\\+srv)?|jdbc:(?:postgresql|mysql|mariadb|sqlite|h2)";
  private static final Pattern SCHEME =
      Pattern.compile("(" + SCHEMES + ")(?=:).*", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

  private static final String USER = "(?:[A-Za-z0-9._~%!$&'()*+,;=:@/#-]*@)?";
  private static final String HOST = "(?:[A-Za-z0-9._~-]+|\\[[0-9A-Fa-f:.]+\\])";
  private static final String PORT = "(?::[0-9]{1,5})";
  private static final String PLACES = HOST + PORT + "?(?:," + HOST + PORT + "?)*";
  private static final Pattern AT_SERVERS =
      Pattern.compile(
          "((?:" + SCHEMES + ")://)(" + USER + ")(" + PLACES + ")((?:/[0-9]{0,6})?)((?:\\?[^@]*)?)",
          Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

  /** A single word behind the scheme is as likely a password as a host. */
  private static final Pattern SURELY_A_HOST =
      Pattern.compile("localhost|.*" + PORT + "|.*\\..*|\\[.*", Pattern.CASE_INSENSITIVE);

  private static final Pattern DATABASE =
      Pattern.compile(
          "jdbc:((?:postgresql|mysql|mariadb)://)"
              + USER
              + "("
              + PLACES
              + "(?:/[A-Za-z0-9_.$-]*)?)(?:\\?.*)?",
          Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
  private static final Pattern DATABASE_FILE =
      Pattern.compile("jdbc:((?:sqlite|h2):[^;?#@=\\p{Cntrl}]*)(?:[;?#].*)?", Pattern.DOTALL);

  private static final Pattern VALUE = Pattern.compile("=([^&;?#)]*)");
  private static final Pattern USER_INFO = Pattern.compile("//([^@]*)@", Pattern.DOTALL);

  private PrintableAddress() {}

  /** The address of a node, or what was given as one. */
  public static String of(@Nullable String address) {
    if (address == null) {
      return "null";
    }
    Matcher servers = AT_SERVERS.matcher(address);
    if (servers.matches() && isPlace(servers)) {
      return servers.group(1).toLowerCase(Locale.ROOT)
          + (servers.group(2).isEmpty() ? "" : STARS + "@")
          + servers.group(3)
          + servers.group(4)
          + (servers.group(5).isEmpty() ? "" : "?" + HIDDEN);
    }
    Matcher scheme = SCHEME.matcher(address);
    if (!scheme.matches()) {
      return HIDDEN;
    }
    String known = scheme.group(1).toLowerCase(Locale.ROOT);
    return known + (known.startsWith("jdbc:") ? ":" : "://") + HIDDEN;
  }

  private static boolean isPlace(Matcher servers) {
    return !servers.group(2).isEmpty() || SURELY_A_HOST.matcher(servers.group(3)).matches();
  }

  /**
   * Where a database is, as its JDBC URL says, without user, password and parameters; null if that
   * cannot be told for certain.
   */
  public static @Nullable String ofDatabase(String url) {
    Matcher servers = DATABASE.matcher(url);
    if (servers.matches()) {
      return servers.group(1).toLowerCase(Locale.ROOT) + servers.group(2);
    }
    Matcher file = DATABASE_FILE.matcher(url);
    return file.matches() && !file.group(1).toLowerCase(Locale.ROOT).contains("password")
        ? file.group(1)
        : null;
  }

  /**
   * What a driver says of a URL, without the URL and what it may keep secret.
   *
   * @param message the driver's words
   * @param url the URL that the driver was given
   */
  public static String without(String message, String url) {
    String hidden = message.replace(url, of(url));
    for (String secret : secretsOf(url)) {
      hidden = hidden.replace(secret, STARS);
    }
    return hidden;
  }

  /**
   * A driver's error as it may be passed on: itself, or one in its place if anything in it repeats
   * the URL, in whole or in part, as drivers do with one that they cannot read.
   *
   * @param anew makes the error in its place, of what may be shown of its message
   */
  public static <E extends Exception> E without(E failure, String url, Function<String, E> anew) {
    if (!repeats(failure, url, new HashSet<>())) {
      return failure;
    }
    E hidden = anew.apply(without(String.valueOf(failure.getMessage()), url));
    hidden.setStackTrace(failure.getStackTrace());
    return hidden;
  }

  /** Whether the error, a cause, a suppressed one or, of a chain of errors, a further one does. */
  private static boolean repeats(Throwable failure, String url, Set<Throwable> looked) {
    if (!looked.add(failure)) {
      return false;
    }
    String message = String.valueOf(failure.getMessage());
    if (!without(message, url).equals(message)) {
      return true;
    }
    List<Object> inside = new ArrayList<>(List.of(failure.getSuppressed()));
    if (failure.getCause() != null) {
      inside.add(failure.getCause());
    }
    if (failure instanceof Iterable<?> chain) { // as the errors of databases are
      chain.forEach(inside::add);
    }
    return inside.stream()
        .anyMatch(each -> each instanceof Throwable further && repeats(further, url, looked));
  }

  /** Values of parameters and who logs in; the longest first. */
  private static List<String> secretsOf(String url) {
    List<String> secrets = new ArrayList<>();
    Matcher value = VALUE.matcher(url);
    while (value.find()) {
      secrets.add(value.group(1));
    }
    Matcher login = USER_INFO.matcher(url);
    if (login.find()) {
      secrets.add(login.group(1));
      secrets.addAll(List.of(login.group(1).split(":", -1)));
    }
    String shown = ofDatabase(url);
    if (shown == null) { // any part of it may be the password
      secrets.addAll(List.of(url.split("[:/@?&=;,()\\s]+", -1)));
    }
    secrets.removeIf(
        each ->
            each.length() < SHORTEST_SECRET
                || (shown != null && shown.contains(each))
                || each.matches("(?i)jdbc|postgresql|mysql|mariadb|sqlite|address|true|false"));
    secrets.sort((a, b) -> b.length() - a.length());
    return secrets;
  }
}
