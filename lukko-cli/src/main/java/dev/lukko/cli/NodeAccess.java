package dev.lukko.cli;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * How to get into nodes whose addresses do not say it themselves. It knows nothing of servers, so
 * that a run without nodes loads nothing of a driver.
 *
 * @param user the user, or null
 * @param password the password, or null; never shown
 * @param passwordFile the file with the password, which goes before the password; or null
 * @param cacert whose certificates to trust, or null
 * @param cert the client's certificate, or null
 * @param key the key of the certificate; null exactly if that is
 */
record NodeAccess(
    @Nullable String user,
    @Nullable String password,
    @Nullable Path passwordFile,
    @Nullable Path cacert,
    @Nullable Path cert,
    @Nullable Path key) {

  @Override
  public String toString() {
    return "NodeAccess[user " + user + "]";
  }
}
