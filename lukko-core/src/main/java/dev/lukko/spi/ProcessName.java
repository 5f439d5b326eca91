package dev.lukko.spi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The name of this process for people: process id and host name. Nothing rests on it. */
public final class ProcessName {
  private static final int MAX_HOST_LENGTH = 40;
  private static final String NAME = ProcessHandle.current().pid() + "@" + host();

  private ProcessName() {}

  /** The process id, an at sign, and the host name: at most 60 characters. */
  public static String get() {
    return NAME;
  }

  /** The host's name from where it can be had without a name service that might hang. */
  private static String host() {
    String host = System.getenv("HOSTNAME");
    if (host == null) {
      host = System.getenv("COMPUTERNAME");
    }
    if (host == null) {
      try {
        host = Files.readString(Path.of("/etc/hostname")).strip();
      } catch (IOException unknown) {
        host = "";
      }
    }
    String clean = host.replaceAll("[^A-Za-z0-9._-]", "");
    String shown = clean.length() > MAX_HOST_LENGTH ? clean.substring(0, MAX_HOST_LENGTH) : clean;
    return shown.isEmpty() ? "unknown-host" : shown;
  }
}
