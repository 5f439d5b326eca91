package dev.lukko.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * The append-only file that a server of a given directory writes to now.
 *
 * <p>Since version 7 it is the newest incremental file named by the manifest in {@code
 * appendonlydir}; before, it was the single {@code appendonly.aof}.
 */
final class AppendOnlyFile {

  private final Path file;

  private AppendOnlyFile(Path file) {
    this.file = file;
  }

  static AppendOnlyFile in(Path serverDirectory) {
    Path directory = serverDirectory.resolve("appendonlydir");
    Path manifest = directory.resolve("appendonly.aof.manifest");
    Path single = serverDirectory.resolve("appendonly.aof");
    if (Files.exists(manifest)) {
      return new AppendOnlyFile(directory.resolve(newestIncrement(manifest)));
    }
    if (Files.exists(single)) {
      return new AppendOnlyFile(single);
    }
    throw new IllegalStateException("no append-only file in " + serverDirectory);
  }

  /** Manifest lines read {@code file NAME seq NUMBER type b|i|h}, in the order of writing. */
  private static String newestIncrement(Path manifest) {
    try {
      List<String> increments =
          Files.readAllLines(manifest).stream().filter(line -> line.endsWith(" type i")).toList();
      if (increments.isEmpty()) {
        throw new IllegalStateException(manifest + " names no incremental file");
      }
      return increments.get(increments.size() - 1).split(" ", -1)[1];
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  long sizeBytes() {
    try {
      return Files.size(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void truncate(long sizeBytes) {
    if (sizeBytes < 0 || sizeBytes > sizeBytes()) {
      throw new IllegalArgumentException(
          "sizeBytes " + sizeBytes + " must be from 0 to the size of the file, " + sizeBytes());
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(sizeBytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
