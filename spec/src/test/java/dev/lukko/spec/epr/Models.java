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

  /** The models that each build checks. */
  static List<Model> all() {
    return in(FOLDER);
  }

  /** The models whose proofs take longer. */
  static List<Model> deep() {
    return in(FOLDER.resolve("deep"));
  }

  private static List<Model> in(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> file.getFileName().toString().endsWith(SUFFIX))
          .sorted()
          .map(Models::read)
          .toList();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static Model read(Path file) {
    try {
      String name = file.getFileName().toString();
      return ModelReader.read(
          name.substring(0, name.length() - SUFFIX.length()), Files.readString(file));
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /** All that is proved, by name: the models and their variants that are as good. */
  static Map<String, Model> proved(List<Model> models) {
    Map<String, Model> proved = new LinkedHashMap<>();
    for (Model model : models) {
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
