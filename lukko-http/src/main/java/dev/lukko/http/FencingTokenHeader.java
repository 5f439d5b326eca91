package dev.lukko.http;

import dev.lukko.Lease;
import dev.lukko.fencing.FenceArguments;
import java.net.http.HttpRequest;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/** The header {@code Fencing-Token}: the token of the caller's lease, in decimal digits. */
public final class FencingTokenHeader {
  /** Its name. */
  public static final String NAME = "Fencing-Token";

  private static final Pattern TOKEN = Pattern.compile("[1-9][0-9]{0,18}");

  private FencingTokenHeader() {}

  /**
   * Sets the header of a request, in place of one that is there, to the lease's token. Whether the
   * lease is still valid is for the server to decide.
   */
  public static HttpRequest.Builder set(HttpRequest.Builder request, Lease lease) {
    return set(request, lease.fencingToken());
  }

  /** {@link #set(HttpRequest.Builder, Lease)} for a token that came by another way. */
  public static HttpRequest.Builder set(HttpRequest.Builder request, long token) {
    return request.setHeader(NAME, Long.toString(FenceArguments.token(token)));
  }

  /**
   * The token that a header's value has: ASCII digits without sign, blanks or leading zeros, from 1
   * to 2^63-1; empty for anything else.
   */
  public static OptionalLong parse(String value) {
    if (!TOKEN.matcher(value).matches()) {
      return OptionalLong.empty();
    }
    try {
      return OptionalLong.of(Long.parseLong(value));
    } catch (NumberFormatException tooLarge) {
      return OptionalLong.empty();
    }
  }
}
