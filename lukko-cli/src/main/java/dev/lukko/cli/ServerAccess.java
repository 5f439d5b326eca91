package dev.lukko.cli;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that say how to get into nodes whose addresses do not say it themselves. */
final class ServerAccess {

  private static final String USER = "LUKKO_USER";
  private static final String PASSWORD = "LUKKO_PASSWORD";
  private static final String PASSWORD_FILE = "LUKKO_PASSWORD_FILE";
  private static final String CACERT = "LUKKO_CACERT";
  private static final String CERT = "LUKKO_CERT";
  private static final String KEY = "LUKKO_KEY";

  @Option(
      names = "--user",
      paramLabel = "NAME",
      description = "The user of the servers' access control list. Default: LUKKO_USER.")
  private @Nullable String user;

  @Option(
      names = "--password-file",
      paramLabel = "FILE",
      description = {
        "The file with the password. Default: LUKKO_PASSWORD_FILE, else the password itself is in"
            + " LUKKO_PASSWORD."
      })
  private @Nullable String passwordFile;

  @Option(
      names = "--cacert",
      paramLabel = "FILE",
      description = {
        "The certificates (PEM) that those of rediss:// nodes must come from. Default:"
            + " LUKKO_CACERT, else what Java trusts."
      })
  private @Nullable String cacert;

  @Option(
      names = "--cert",
      paramLabel = "FILE",
      description = {
        "The certificate (PEM) that this command proves itself with. Default: LUKKO_CERT."
      })
  private @Nullable String cert;

  @Option(
      names = "--key",
      paramLabel = "FILE",
      description = "The private key of --cert (PEM, PKCS#8). Default: LUKKO_KEY.")
  private @Nullable String key;

  /**
   * What was given, by option or by variable.
   *
   * @throws UsageException if something is no path, or half of a pair
   */
  NodeAccess given(Map<String, String> environment) {
    Path certificate = path("--cert", given(cert, environment, CERT));
    Path secret = path("--key", given(key, environment, KEY));
    if ((certificate == null) != (secret == null)) {
      throw new UsageException("--cert and --key go together; give both, or neither");
    }
    return new NodeAccess(
        given(user, environment, USER),
        given(null, environment, PASSWORD),
        path("--password-file", given(passwordFile, environment, PASSWORD_FILE)),
        path("--cacert", given(cacert, environment, CACERT)),
        certificate,
        secret);
  }

  private static @Nullable String given(
      @Nullable String option, Map<String, String> environment, String variable) {
    String value = option != null ? option : environment.get(variable);
    return value == null || value.isEmpty() ? null : value;
  }

  private static @Nullable Path path(String option, @Nullable String text) {
    try {
      return text == null ? null : Path.of(text);
    } catch (InvalidPathException malformed) {
      throw new UsageException(option + ": '" + text + "' is not a path");
    }
  }
}
