package dev.lukko.spec.epr;

import com.microsoft.z3.Context;
import com.microsoft.z3.Native;
import com.microsoft.z3.Z3Exception;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The solver: a library that comes with the build where there is one for this machine, else the
 * command {@code z3}.
 */
final class Z3 {
  private static final Duration LIMIT = Duration.ofSeconds(120);

  private Z3() {}

  /** What the solver says. */
  enum Verdict {
    POSSIBLE,
    IMPOSSIBLE
  }

  /** What the solver says, and the values that were asked for. */
  record Answer(Verdict verdict, List<Term> values) {}

  /** Where the solver comes from; without one the proofs cannot be checked. */
  static String origin() {
    return Solver.ORIGIN;
  }

  static boolean isThere() {
    return !origin().isEmpty();
  }

  static Verdict decide(Query query) {
    return decide(query, List.of()).verdict();
  }

  /**
   * Decides a question; fails if the solver does not get to an answer, which is never taken for
   * one.
   */
  static Answer decide(Query query, List<Term> wanted) {
    List<Term> answers = ask(query, List.of());
    if (answers.equals(List.of(Term.name("unsat")))) {
      return new Answer(Verdict.IMPOSSIBLE, List.of());
    }
    if (!answers.equals(List.of(Term.name("sat")))) {
      throw new IllegalStateException("no answer but " + answers + " to\n" + query);
    }
    return new Answer(
        Verdict.POSSIBLE,
        wanted.isEmpty() ? List.of() : ask(query, wanted).get(1).asGroup().parts());
  }

  private static List<Term> ask(Query query, List<Term> wanted) {
    return TermReader.read(
        Solver.ASK.apply(
            "(set-option :timeout %d)\n%s".formatted(LIMIT.toMillis(), query.text(wanted))));
  }

  /** Looks for a solver once. */
  private static final class Solver {
    static final UnaryOperator<String> ASK;
    static final String ORIGIN;

    static {
      String library = versionOfLibrary();
      String command = library.isEmpty() ? versionOfCommand() : "";
      ASK = library.isEmpty() ? Solver::askCommand : Solver::askLibrary;
      ORIGIN = library + command;
    }

    private static String versionOfLibrary() {
      try {
        return Native.getFullVersion() + ", library";
      } catch (LinkageError notForThisMachine) {
        System.out.println("no library of Z3 for this machine: " + notForThisMachine);
        return "";
      }
    }

    private static String versionOfCommand() {
      try {
        return output(new ProcessBuilder("z3", "--version").start()).strip() + ", command";
      } catch (IOException notThere) {
        System.out.println("no command z3: " + notThere.getMessage());
        return "";
      }
    }

    private static String askLibrary(String text) {
      try (Context context = new Context()) {
        return Native.evalSmtlib2String(context.nCtx(), text);
      } catch (Z3Exception wrong) {
        throw new IllegalArgumentException(wrong.getMessage() + " in\n" + text, wrong);
      }
    }

    private static String askCommand(String text) {
      try {
        Process process = new ProcessBuilder("z3", "-in").redirectErrorStream(true).start();
        try (OutputStream input = process.getOutputStream()) {
          input.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return output(process);
      } catch (IOException broken) {
        throw new UncheckedIOException(broken);
      }
    }

    private static String output(Process process) throws IOException {
      return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
