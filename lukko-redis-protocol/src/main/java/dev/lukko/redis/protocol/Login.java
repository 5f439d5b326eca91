package dev.lukko.redis.protocol;

import org.jspecify.annotations.Nullable;

/**
 * As whom a client introduces itself.
 *
 * @param user the name in the server's access control list, or null for its default user
 * @param password the password, or null for none
 */
public record Login(@Nullable String user, @Nullable Secret password) {
  public static final Login NONE = new Login(null, null);

  /** This login, completed by another one where it says nothing. */
  public Login or(Login other) {
    return new Login(
        user != null ? user : password != null ? null : other.user,
        password != null ? password : other.password);
  }

  /**
   * Checks that the parts fit together, and that there is a password where one is meant.
   *
   * @throws IllegalArgumentException if a user has no password, or it cannot be read
   */
  public Login checked(String whose) {
    if (user != null && password == null) {
      throw new IllegalArgumentException(
          whose + " is \"" + user + "\", and there is no password; it must have one");
    }
    if (password != null) {
      password.checked();
    }
    return this;
  }
}
