package dev.lukko.cli.demo;

import dev.lukko.LockClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The entry point of a worker process. */
final class WorkerMain {

  private WorkerMain() {}

  /**
   * Serves the demo until the end of standard input.
   *
   * @param args the port of the ledger, then the addresses of the nodes
   */
  public static void main(String[] args) throws IOException {
    Logger.getLogger("").setLevel(Level.OFF);
    // Whatever a library prints must not be taken for an answer.
    PrintStream answers = new PrintStream(System.out, true, StandardCharsets.US_ASCII);
    System.setOut(System.err);
    // The first act needs no locks: the connections are made while it runs.
    FutureTask<LockClient> locks =
        new FutureTask<>(() -> DemoLocks.connect(List.of(args).subList(1, args.length)));
    Thread connect = new Thread(locks, "lukko-demo-connect");
    connect.setDaemon(true);
    connect.start();
    try (LedgerClient ledger = new LedgerClient(Integer.parseInt(args[0]));
        BufferedReader jobs =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII))) {
      new Worker(ledger, locks).serve(jobs, answers);
    }
    // Not by falling off the end: nothing that is still open may keep this process.
    System.exit(0);
  }
}
