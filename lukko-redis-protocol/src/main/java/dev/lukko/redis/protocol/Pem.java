package dev.lukko.redis.protocol;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads certificates and private keys from files in PEM form. */
final class Pem {
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([^-]+)-----END PRIVATE KEY-----");
  private static final Pattern OTHER_KEY =
      Pattern.compile("-----BEGIN (RSA|EC|DSA|ENCRYPTED) PRIVATE KEY-----");

  private Pem() {}

  /**
   * The certificates of a file, in its order, at least one.
   *
   * @throws IllegalArgumentException if there is none, naming the field and the file
   */
  static List<Certificate> certificates(String field, Path file) {
    try {
      List<Certificate> certificates =
          List.copyOf(
              CertificateFactory.getInstance("X.509")
                  .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(file))));
      if (!certificates.isEmpty()) {
        return certificates;
      }
    } catch (IOException unreadable) {
      throw unreadable(field, file, unreadable);
    } catch (GeneralSecurityException malformed) {
      throw new IllegalArgumentException(rule(field, file), malformed);
    }
    throw new IllegalArgumentException(rule(field, file));
  }

  private static String rule(String field, Path file) {
    return field + " is " + file + "; it must hold certificates in PEM form";
  }

  /**
   * The private key of a file.
   *
   * @param algorithm of the key, as its certificate tells
   * @throws IllegalArgumentException if there is none, naming the file; never shows the key
   */
  static PrivateKey privateKey(Path file, String algorithm) {
    String text;
    try {
      text = Files.readString(file, StandardCharsets.ISO_8859_1);
    } catch (IOException unreadable) {
      throw unreadable("key", file, unreadable);
    }
    Matcher matcher = KEY.matcher(text);
    if (matcher.find()) {
      try {
        byte[] bytes = Base64.getMimeDecoder().decode(matcher.group(1));
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(bytes));
      } catch (GeneralSecurityException | IllegalArgumentException malformed) {
        // their messages could show a part of the key
        throw new IllegalArgumentException(
            "key is " + file + "; it must hold the " + algorithm + " key of the certificate");
      }
    }
    throw new IllegalArgumentException(
        "key is "
            + file
            + "; it must hold an unencrypted private key in PKCS#8 form (BEGIN PRIVATE KEY)"
            + (OTHER_KEY.matcher(text).find()
                ? ": openssl pkcs8 -topk8 -nocrypt -in " + file + " converts it"
                : ""));
  }

  private static IllegalArgumentException unreadable(String field, Path file, IOException cause) {
    return new IllegalArgumentException(
        field + " is " + file + "; it must be a readable file: " + cause.getClass().getSimpleName(),
        cause);
  }
}
