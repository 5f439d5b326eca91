package dev.lukko.testkit.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Makes a failing history short: drops every fault and every operation that it can do without. */
final class Shrinker {
  private static final int MOST_RUNS = 2_000;

  private final Check check;
  private int runs;

  private Shrinker(Check check) {
    this.check = check;
  }

  /** A plan that fails by the same check, with as few steps as was found. */
  static Plan shrink(Plan plan, Check check) {
    return new Shrinker(check).shrink(plan);
  }

  private Plan shrink(Plan plan) {
    Plan shortest = plan;
    int before;
    do {
      before = shortest.ops().size() + shortest.faults().size();
      Plan base = shortest;
      List<Fault> faults = fewest(base.faults(), some -> fails(base.with(base.ops(), some)));
      List<Op> ops = fewest(base.ops(), some -> fails(base.with(some, faults)));
      shortest = base.with(ops, faults);
    } while (shortest.ops().size() + shortest.faults().size() < before && runs < MOST_RUNS);
    return shortest;
  }

  private boolean fails(Plan plan) {
    runs++;
    Violation violation = History.run(plan, false).violation();
    return violation != null && violation.check() == check;
  }

  /** Delta debugging: drops ever smaller parts as long as the rest still fails. */
  private <T> List<T> fewest(List<T> all, Predicate<List<T>> fails) {
    List<T> rest = all;
    for (int part = Math.max(1, rest.size() / 2); part >= 1; part /= 2) {
      for (int from = 0; from < rest.size() && runs < MOST_RUNS; ) {
        List<T> without = new ArrayList<>(rest.subList(0, from));
        without.addAll(rest.subList(Math.min(rest.size(), from + part), rest.size()));
        if (fails.test(without)) {
          rest = without;
        } else {
          from += part;
        }
      }
    }
    return rest;
  }
}
