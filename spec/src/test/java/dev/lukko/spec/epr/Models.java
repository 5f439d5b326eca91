package dev.lukko.spec.epr;

import dev.lukko.spec.epr.Variant.Expected;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The models, as they lie in the source tree. */
final class Models {
  /** Where Maven starts the tests of a module: its own folder. */
  private static final Path FOLDER = Path.of("").toAbsolutePath().resolve("src/main/epr");

  private static final String SUFFIX = ".epr";

  private Models() {}

  static List<Model> all() {
    try (Stream<Path> files = Files.list(FOLDER)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(file -> file.endsWith(SUFFIX))
          .map(file -> file.substring(0, file.length() - SUFFIX.length()))
          .sorted()
          .map(Models::read)
          .toList();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  static Model read(String name) {
    try {
      return ModelReader.read(name, Files.readString(FOLDER.resolve(name + SUFFIX)));
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /** All that is proved, by name: the models and their variants that are as good. */
  static Map<String, Model> proved() {
    Map<String, Model> proved = new LinkedHashMap<>();
    for (Model model : all()) {
      proved.put(model.name(), model);
      model.variants().values().stream()
          .filter(variant -> variant.expected() == Expected.PROVED)
          .forEach(
              variant -> proved.put(model.name() + ", " + variant.name(), variant.applyTo(model)));
    }
    return proved;
  }

  /** The model, or one of its variants. */
  static Model read(Model model, String variant) {
    return variant.equals(Variant.PROTOCOL) ? model : model.variant(variant).applyTo(model);
  }
}
