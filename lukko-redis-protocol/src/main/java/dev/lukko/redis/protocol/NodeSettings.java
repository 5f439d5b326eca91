package dev.lukko.redis.protocol;

import dev.lukko.redis.format.RedisKeyFormat;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What the builders of nodes collect, whatever the driver. Each setter checks at once and throws
 * {@link IllegalArgumentException}.
 *
 * <p>Not thread-safe.
 */
public final class NodeSettings {
  private static final Duration MAX_TIMEOUT = Duration.ofMinutes(10);
  private static final Duration MAX_RETENTION = Duration.ofDays(36_500);
  private static final int MAX_NAME_LENGTH = 200;

  private RedisKeyFormat keyFormat = RedisKeyFormat.PREFIXED;
  private Duration counterRetention = Duration.ofDays(7);
  private Duration connectTimeout = Duration.ofSeconds(1);
  private Duration commandTimeout = Duration.ofSeconds(10);
  private RedisAccess access = RedisAccess.NONE;
  private @Nullable String name;

  /** The defaults. */
  public NodeSettings() {}

  public RedisKeyFormat keyFormat() {
    return keyFormat;
  }

  public Duration counterRetention() {
    return counterRetention;
  }

  public Duration connectTimeout() {
    return connectTimeout;
  }

  public Duration commandTimeout() {
    return commandTimeout;
  }

  /** How to get into servers whose addresses do not say it. */
  public RedisAccess access() {
    return access;
  }

  /** The node's name; that of its address unless another one was set. */
  public String nameOr(String address) {
    return name != null ? name : address;
  }

  public void setKeyFormat(RedisKeyFormat value) {
    keyFormat = value;
  }

  public void setCounterRetention(Duration value) {
    counterRetention = checked("counterRetention", value, MAX_RETENTION);
  }

  public void setConnectTimeout(Duration value) {
    connectTimeout = checked("connectTimeout", value, MAX_TIMEOUT);
  }

  public void setCommandTimeout(Duration value) {
    commandTimeout = checked("commandTimeout", value, MAX_TIMEOUT);
  }

  public void setName(String value) {
    if (value.isEmpty()
        || value.length() > MAX_NAME_LENGTH
        || value.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException(
          "name has "
              + value.length()
              + " characters; it must have 1 to "
              + MAX_NAME_LENGTH
              + ", and no control characters");
    }
    name = value;
  }

  /** Checks that several nodes may be made: each has a name of its own. */
  public void checkNameForSeveral() {
    if (name != null) {
      throw new IllegalArgumentException(
          "name is \"" + name + "\"; it must not be set for several nodes, each has its own");
    }
  }

  public void setUser(String user) {
    access = access.withLogin(new Login(text("user", user), access.login().password()));
  }

  public void setPassword(String password) {
    setPassword(Secret.text(text("password", password)));
  }

  public void setPasswordFile(Path file) {
    setPassword(Secret.file(file).checked());
  }

  public void setPasswordVariable(String variable) {
    setPassword(Secret.variable(text("passwordVariable", variable), System::getenv).checked());
  }

  private void setPassword(Secret password) {
    access = access.withLogin(new Login(access.login().user(), password));
  }

  public void setSentinelLogin(@Nullable String user, Path passwordFile) {
    access = access.withSentinelLogin(new Login(user, Secret.file(passwordFile).checked()));
  }

  public void setCaCertificates(Path file) {
    setFiles(new TlsFiles(file, access.files().certificate(), access.files().key()));
  }

  public void setClientCertificate(Path certificate, Path key) {
    setFiles(new TlsFiles(access.files().authority(), certificate, key));
  }

  private void setFiles(TlsFiles files) {
    access = access.withFiles(files.checked());
  }

  public void setClientName(String clientName) {
    access = access.withClientName(clientName);
  }

  private static String text(String field, String value) {
    if (value.isEmpty()) {
      throw new IllegalArgumentException(field + " is empty; it must have at least one character");
    }
    return value;
  }

  private static Duration checked(String field, @Nullable Duration value, Duration max) {
    if (value == null || value.compareTo(Duration.ofMillis(1)) < 0 || value.compareTo(max) > 0) {
      throw new IllegalArgumentException(
          field + " is " + value + "; it must be from 1 ms to " + max);
    }
    return value;
  }
}
