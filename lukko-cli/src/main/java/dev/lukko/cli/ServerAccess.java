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
   * Hands all of it to the builder of nodes.
   *
   * @throws IllegalArgumentException if a file cannot be read, or does not hold what it must
   */
  void apply(NodeBuilder nodes, Map<String, String> environment) {
    String name = given(user, environment, USER);
    if (name != null) {
      nodes.user(name);
    }
    String file = given(passwordFile, environment, PASSWORD_FILE);
    String password = given(null, environment, PASSWORD);
    if (file != null) {
      nodes.passwordFile(path("--password-file", file));
    } else if (password != null) {
      nodes.password(password);
    }
    String authority = given(cacert, environment, CACERT);
    if (authority != null) {
      nodes.caCertificates(path("--cacert", authority));
    }
    String certificate = given(cert, environment, CERT);
    String secret = given(key, environment, KEY);
    if ((certificate == null) != (secret == null)) {
      throw new UsageException("--cert and --key go together; give both, or neither");
    }
    if (certificate != null && secret != null) {
      nodes.clientCertificate(path("--cert", certificate), path("--key", secret));
    }
  }

  private static @Nullable String given(
      @Nullable String option, Map<String, String> environment, String variable) {
    String value = option != null ? option : environment.get(variable);
    return value == null || value.isEmpty() ? null : value;
  }

  private static Path path(String option, String text) {
    try {
      return Path.of(text);
    } catch (InvalidPathException malformed) {
      throw new UsageException(option + ": '" + text + "' is not a path");
    }
  }
}
