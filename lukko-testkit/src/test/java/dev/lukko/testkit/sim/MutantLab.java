package dev.lukko.testkit.sim;

import dev.lukko.redlock.Redlock;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongUnaryOperator;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Compiles a changed source of the engine, and runs the simulator with it in a class loader of its
 * own. Production code knows nothing of this.
 */
final class MutantLab {
  private static final Path SOURCES =
      Path.of("..", "lukko-core", "src", "main", "java", "dev", "lukko");

  private MutantLab() {}

  /**
   * What became of a mutant.
   *
   * @param histories how many histories it took to kill it, or zero if it survived
   * @param killer the check that failed and what it found; empty if it survived
   */
  record Verdict(Mutant mutant, long histories, String killer) {
    boolean survived() {
      return histories == 0;
    }

    /** The check alone. */
    String check() {
      int colon = killer.indexOf(':');
      return colon < 0 ? killer : killer.substring(0, colon);
    }
  }

  static Verdict judge(Mutant mutant, Path scratch, long budget) throws Exception {
    compile(mutant, scratch);
    URL[] path = {
      scratch.toUri().toURL(), homeOf(Redlock.class), homeOf(Simulation.class), homeOf(Mutant.class)
    };
    try (URLClassLoader loader = new URLClassLoader(path, ClassLoader.getPlatformClassLoader())) {
      LongUnaryOperator probe =
          (LongUnaryOperator)
              loader.loadClass(HistoryProbe.class.getName()).getDeclaredConstructor().newInstance();
      long histories = probe.applyAsLong(budget);
      return new Verdict(mutant, histories, probe.toString());
    }
  }

  private static URL homeOf(Class<?> type) {
    return type.getProtectionDomain().getCodeSource().getLocation();
  }

  static String sourceOf(Mutant mutant) throws IOException {
    return Files.readString(SOURCES.resolve(mutant.file()));
  }

  private static void compile(Mutant mutant, Path target) throws IOException {
    List<InMemorySource> sources = new ArrayList<>();
    for (Mutant part : mutant.parts()) {
      sources.add(new InMemorySource(SOURCES.resolve(part.file()), part.appliedTo(sourceOf(part))));
    }
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    DiagnosticCollector<JavaFileObject> complaints = new DiagnosticCollector<>();
    try (StandardJavaFileManager files =
        compiler.getStandardFileManager(complaints, Locale.ROOT, StandardCharsets.UTF_8)) {
      boolean compiled =
          compiler
              .getTask(
                  null,
                  files,
                  complaints,
                  List.of(
                      "-d",
                      target.toString(),
                      "-proc:none",
                      "-nowarn",
                      "-cp",
                      System.getProperty("java.class.path")),
                  null,
                  sources)
              .call();
      if (!compiled) {
        throw new AssertionError(
            "mutant \"" + mutant.name() + "\" does not compile: " + errorsOf(complaints));
      }
    }
  }

  private static List<String> errorsOf(DiagnosticCollector<JavaFileObject> complaints) {
    return complaints.getDiagnostics().stream()
        .filter(complaint -> complaint.getKind() == Diagnostic.Kind.ERROR)
        .map(complaint -> complaint.getMessage(Locale.ROOT))
        .toList();
  }

  private static final class InMemorySource extends SimpleJavaFileObject {
    private final String source;

    InMemorySource(Path file, String source) {
      super(URI.create("string:///" + file.getFileName()), Kind.SOURCE);
      this.source = source;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return source;
    }
  }
}
