package dev.lukko.cli;

import java.nio.file.Path;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
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

  /** Gives what there is to the setters of a builder, and leaves the rest of them alone. */
  void give(
      Consumer<String> userSetter,
      Consumer<String> passwordSetter,
      Consumer<Path> passwordFileSetter,
      Consumer<Path> authoritySetter,
      BiConsumer<Path, Path> certificateSetter) {
    if (user != null) {
      userSetter.accept(user);
    }
    if (passwordFile != null) {
      passwordFileSetter.accept(passwordFile);
    } else if (password != null) {
      passwordSetter.accept(password);
    }
    if (cacert != null) {
      authoritySetter.accept(cacert);
    }
    if (cert != null && key != null) {
      certificateSetter.accept(cert, key);
    }
  }

  @Override
  public String toString() {
    return "NodeAccess[user " + user + "]";
  }
}
