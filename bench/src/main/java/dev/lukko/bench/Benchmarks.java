package dev.lukko.bench;

import dev.lukko.bench.soak.SoakCommand;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * The benchmarks' entry: {@code ./lukko-bench [NAME ...]}; all of them by default. {@code
 * ./lukko-bench soak} has options of its own.
 */
public final class Benchmarks {
  private static final List<String> ALL =
      List.of(
          "uncontended",
          "hand-off",
          "ping-pong",
          "readers",
          "held-leases",
          "advisory",
          "sql-node",
          "fence",
          "queue");

  private Benchmarks() {}

  /** Runs the named benchmarks, or all. */
  public static void main(String[] arguments) throws Exception {
    if (arguments.length > 0 && arguments[0].equals("soak")) {
      System.exit(
          SoakCommand.execute(
              System.out, System.err, Arrays.copyOfRange(arguments, 1, arguments.length)));
    }
    List<String> wanted = arguments.length == 0 ? ALL : List.of(arguments);
    if (!Set.copyOf(ALL).containsAll(wanted)) {
      System.err.println("unknown benchmark in " + wanted + "; there are " + ALL + " and soak");
      System.exit(64);
    }
    int operations = Integer.getInteger("operations", 500);
    if (wanted.contains("uncontended")) {
      UncontendedBench.run(System.out, Integer.getInteger("slices", 30), operations);
    }
    if (wanted.contains("hand-off")) {
      HandOffBench.run(
          System.out, Integer.getInteger("slices", 5), Integer.getInteger("seconds", 3));
    }
    if (wanted.contains("ping-pong")) {
      PingPongBench.run(System.out, Integer.getInteger("slices", 20), operations);
    }
    if (wanted.contains("readers")) {
      ReadersBench.run(
          System.out, Integer.getInteger("slices", 5), Integer.getInteger("seconds", 3));
    }
    if (wanted.contains("held-leases")) {
      HeldLeasesBench.run(System.out);
    }
    if (wanted.contains("advisory")) {
      AdvisoryBench.run(System.out, Integer.getInteger("slices", 30), operations);
    }
    if (wanted.contains("sql-node")) {
      SqlNodeBench.run(System.out, Integer.getInteger("slices", 30), operations);
    }
    if (wanted.contains("fence")) {
      FenceBench.run(System.out, Integer.getInteger("slices", 30), operations);
    }
    if (wanted.contains("queue")) {
      QueueBench.run(
          System.out,
          Integer.getInteger("slices", 7),
          Integer.getInteger("rows", 20_000),
          Integer.getInteger("batch", 50));
    }
    System.exit(0);
  }
}
