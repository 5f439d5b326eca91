package dev.lukko.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An authority of its own for tests of TLS, with the certificates that it has issued: files in PEM
 * form, made by the {@code keytool} of the JDK in a temporary directory.
 *
 * <p>Each method that makes something waits for {@code keytool}, at most 30 s.
 */
public final class TestCertificates implements AutoCloseable {
  private static final String PASSWORD = "changeit";
  private static final long TIMEOUT_SECONDS = 30;

  private final Path directory;

  private TestCertificates(Path directory) {
    this.directory = directory;
  }

  /**
   * A certificate and its private key.
   *
   * @param certificate the file of the certificate
   * @param key the file of the key, in PKCS#8 form
   */
  public record Issued(Path certificate, Path key) {}

  /**
   * Makes a new authority.
   *
   * @return the authority, to be closed
   */
  public static TestCertificates create() {
    try {
      TestCertificates made = new TestCertificates(Files.createTempDirectory("lukko-tls-"));
      made.keytool(
          "-genkeypair", "-alias", "ca", "-dname", "CN=authority", "-ext", "bc:c", "-keyalg", "EC");
      made.write(made.authority(), "CERTIFICATE", made.certificate("ca").getEncoded());
      return made;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * The authority's own certificate.
   *
   * @return the file
   */
  public Path authority() {
    return directory.resolve("ca.pem");
  }

  /**
   * Issues a certificate.
   *
   * @param name of the files, and whom the certificate names
   * @param hosts what it is valid for, such as {@code ip:127.0.0.1} or {@code dns:localhost}; null
   *     for a client
   * @return the files, which replace earlier ones of the same name
   */
  public Issued issue(String name, @Nullable String hosts) {
    Path store = directory.resolve(name + ".p12");
    Path request = directory.resolve(name + ".csr");
    Path certificate = directory.resolve(name + ".pem");
    Path key = directory.resolve(name + ".key");
    try {
      Files.deleteIfExists(store);
      keytool(store, "-genkeypair", "-alias", name, "-dname", "CN=" + name, "-keyalg", "RSA");
      keytool(store, "-certreq", "-alias", name, "-file", request.toString());
      List<String> issue =
          new ArrayList<>(
              List.of("-gencert", "-alias", "ca", "-rfc", "-infile", request.toString()));
      issue.addAll(List.of("-outfile", certificate.toString()));
      if (hosts != null) {
        issue.addAll(List.of("-ext", "san=" + hosts));
      }
      keytool(issue.toArray(String[]::new));
      Key secret = load(store).getKey(name, PASSWORD.toCharArray());
      write(key, "PRIVATE KEY", secret.getEncoded());
      return new Issued(certificate, key);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private Path authorityStore() {
    return directory.resolve("ca.p12");
  }

  private Certificate certificate(String alias) throws IOException, GeneralSecurityException {
    return load(authorityStore()).getCertificate(alias);
  }

  private static KeyStore load(Path store) throws IOException, GeneralSecurityException {
    return KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
  }

  private void write(Path file, String what, byte[] bytes) throws IOException {
    String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
    Files.writeString(
        file, "-----BEGIN " + what + "-----\n" + body + "\n-----END " + what + "-----\n");
  }

  private void keytool(String... arguments) throws IOException {
    keytool(authorityStore(), arguments);
  }

  private void keytool(Path store, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.add("-J-XX:TieredStopAtLevel=1"); // it runs for a moment only
    command.addAll(List.of(arguments));
    command.addAll(
        List.of("-keystore", store.toString(), "-storepass", PASSWORD, "-storetype", "PKCS12"));
    Path log = directory.resolve("keytool.log");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    try {
      if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new IllegalStateException("keytool failed: " + Files.readString(log));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for keytool", e);
    } finally {
      process.destroyForcibly();
    }
  }

  /** Deletes the files. */
  @Override
  public void close() {
    try {
      Directories.delete(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
