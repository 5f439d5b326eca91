package dev.lukko.redis.protocol;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * The files of TLS, in PEM form. They are read anew for each connection, so that certificates can
 * be renewed.
 *
 * @param authority the certificates that a server's must come from, or null for the platform's
 * @param certificate the client's certificate and its chain, or null for none
 * @param key the private key of the certificate; null exactly if that is
 */
public record TlsFiles(@Nullable Path authority, @Nullable Path certificate, @Nullable Path key) {
  public static final TlsFiles NONE = new TlsFiles(null, null, null);

  private static final char[] NO_PASSWORD = new char[0];

  public boolean isEmpty() {
    return authority == null && certificate == null && key == null;
  }

  /** These files, completed by others where there are none. */
  public TlsFiles or(TlsFiles other) {
    boolean own = certificate != null || key != null;
    return new TlsFiles(
        authority != null ? authority : other.authority,
        own ? certificate : other.certificate,
        own ? key : other.key);
  }

  /**
   * Reads the files once, so that a wrong one is refused at the start.
   *
   * @throws IllegalArgumentException naming the file
   */
  public TlsFiles checked() {
    if ((certificate == null) != (key == null)) {
      throw new IllegalArgumentException(
          (key == null ? "cert is " + certificate : "key is " + key)
              + "; cert and key must both be given, or neither");
    }
    trust();
    keys();
    return this;
  }

  /** Whom to trust; null for the platform's default. */
  public @Nullable TrustManagerFactory trust() {
    if (authority == null) {
      return null;
    }
    List<Certificate> certificates = Pem.certificates("cacert", authority);
    try {
      KeyStore store = emptyStore();
      for (int i = 0; i < certificates.size(); i++) {
        store.setCertificateEntry("authority" + i, certificates.get(i));
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(store);
      return factory;
    } catch (GeneralSecurityException | IOException unusable) {
      throw new IllegalArgumentException(
          "cacert is " + authority + "; its certificates cannot be used", unusable);
    }
  }

  /** What the client proves itself with; null for nothing. */
  public @Nullable KeyManagerFactory keys() {
    if (certificate == null || key == null) {
      return null;
    }
    Certificate[] chain = Pem.certificates("cert", certificate).toArray(new Certificate[0]);
    PrivateKey secret = Pem.privateKey(key, chain[0].getPublicKey().getAlgorithm());
    try {
      KeyStore store = emptyStore();
      store.setKeyEntry("client", secret, NO_PASSWORD, chain);
      KeyManagerFactory factory =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      factory.init(store, NO_PASSWORD);
      return factory;
    } catch (GeneralSecurityException | IOException unusable) {
      throw new IllegalArgumentException(
          "cert is " + certificate + "; it cannot be used with the key " + key, unusable);
    }
  }

  private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }
}
