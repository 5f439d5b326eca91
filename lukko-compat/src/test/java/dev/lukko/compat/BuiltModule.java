package dev.lukko.compat;

import static com.tngtech.archunit.base.DescribedPredicate.describe;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * A module that the root's pom names.
 *
 * @param pom what its own pom says
 * @param classes what is compiled of it; nothing if it was not built before, or is not published
 */
record BuiltModule(Path folder, String pom, JavaClasses classes) {
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
  private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");
  private static final Pattern ARTIFACT = Pattern.compile("<artifactId>([^<]+)</artifactId>");
  private static final String NOT_PUBLISHED = "<maven.deploy.skip>true</maven.deploy.skip>";

  static List<BuiltModule> all() throws IOException {
    List<Path> folders =
        MODULE
            .matcher(Files.readString(ROOT.resolve("pom.xml")))
            .results()
            .map(found -> ROOT.resolve(found.group(1)))
            .toList();
    List<Path> built = new ArrayList<>();
    for (Path folder : folders) {
      if (Files.isDirectory(output(folder)) && !pomOf(folder).contains(NOT_PUBLISHED)) {
        built.add(output(folder));
      }
    }
    JavaClasses everything = new ClassFileImporter().importPaths(built);
    List<BuiltModule> modules = new ArrayList<>();
    for (Path folder : folders) {
      JavaClasses own =
          everything.that(describe("come from " + folder, each -> isFrom(output(folder), each)));
      modules.add(new BuiltModule(folder, pomOf(folder), own));
    }
    return modules;
  }

  private static Path output(Path folder) {
    return folder.resolve("target/classes");
  }

  private static String pomOf(Path folder) throws IOException {
    return Files.readString(folder.resolve("pom.xml"));
  }

  private static boolean isFrom(Path output, JavaClass each) {
    return each.getSource()
        .map(source -> Path.of(source.getUri()).startsWith(output))
        .orElse(false);
  }

  String name() {
    return String.valueOf(folder.getFileName());
  }

  /** False for tests, benchmarks and the like, which nobody gets. */
  boolean isPublished() {
    return !pom.contains(NOT_PUBLISHED);
  }

  String artifact() {
    return artifacts().get(1); // The first is the parent's.
  }

  /** Of Lukko's modules, those that this one's pom names as a dependency. */
  Set<String> dependencies() {
    Set<String> names = new TreeSet<>(artifacts().subList(2, artifacts().size()));
    names.removeIf(artifact -> !artifact.startsWith("lukko-"));
    return names;
  }

  private List<String> artifacts() {
    return ARTIFACT.matcher(pom).results().map(found -> found.group(1)).toList();
  }

  Set<String> packages() {
    Set<String> packages = new TreeSet<>();
    for (JavaClass each : classes) {
      packages.add(each.getPackageName());
    }
    return packages;
  }

  boolean hasAModuleDescriptor() {
    return Files.exists(folder.resolve("src/main/java/module-info.java"))
        || pom.contains("<Automatic-Module-Name>");
  }
}
