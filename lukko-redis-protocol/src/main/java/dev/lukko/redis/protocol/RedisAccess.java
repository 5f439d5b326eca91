package dev.lukko.redis.protocol;

import dev.lukko.text.Printable;
import java.util.regex.Pattern;

/**
 * How to get into servers whose addresses do not say it themselves.
 *
 * @param login as whom to log in
 * @param sentinelLogin as whom to log in at Sentinels
 * @param files of TLS
 * @param clientName how connections are named at the server
 */
public record RedisAccess(Login login, Login sentinelLogin, TlsFiles files, String clientName) {
  public static final RedisAccess NONE =
      new RedisAccess(Login.NONE, Login.NONE, TlsFiles.NONE, RedisAddress.DEFAULT_CLIENT_NAME);

  private static final Pattern CLIENT_NAME = Pattern.compile("[!-~]{1,100}");

  public static void checkClientName(String name) {
    if (!CLIENT_NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "clientName is \""
              + Printable.of(name)
              + "\"; it must have 1 to 100 characters from ! to ~, as the server demands");
    }
  }

  public RedisAccess withLogin(Login changed) {
    return new RedisAccess(changed, sentinelLogin, files, clientName);
  }

  public RedisAccess withSentinelLogin(Login changed) {
    return new RedisAccess(login, changed, files, clientName);
  }

  public RedisAccess withFiles(TlsFiles changed) {
    return new RedisAccess(login, sentinelLogin, changed, clientName);
  }

  public RedisAccess withClientName(String changed) {
    checkClientName(changed);
    return new RedisAccess(login, sentinelLogin, files, changed);
  }
}
