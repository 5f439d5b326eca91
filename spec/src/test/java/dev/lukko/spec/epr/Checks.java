package dev.lukko.spec.epr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.lukko.spec.epr.Model.Action;
import dev.lukko.spec.epr.Model.Conjunct;
import dev.lukko.spec.epr.Z3.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;

/** The checks of a model, one test each. */
final class Checks {
  private Checks() {}

  /**
   * That the invariant holds at the beginning, and that each action keeps each of its conjuncts.
   */
  static Stream<DynamicNode> ofInduction(Model model) {
    List<DynamicNode> containers = new ArrayList<>();
    containers.add(
        dynamicContainer(
            "at the beginning",
            ofConjuncts(model, conjunct -> Conditions.initially(model, conjunct))));
    for (Action action : model.actions()) {
      containers.add(
          dynamicContainer(
              action.name(),
              ofConjuncts(model, conjunct -> Conditions.kept(model, action, conjunct))));
    }
    return containers.stream();
  }

  private static Stream<DynamicTest> ofConjuncts(Model model, Function<Conjunct, Query> query) {
    return model.conjuncts().stream()
        .map(
            conjunct ->
                dynamicTest(
                    conjunct.name(),
                    () -> assertVerdict(query.apply(conjunct), Verdict.IMPOSSIBLE)));
  }

  static void assertVerdict(Query query, Verdict expected) {
    assertThat(query.circle()).as("decidable: no circle of sorts").isEmpty();
    assertThat(decide(query)).as(query.toString()).isEqualTo(expected);
  }

  static Verdict decide(Query query) {
    assumeTrue(Z3.isThere(), "no Z3: neither a library for this machine nor a command z3");
    return Z3.decide(query);
  }

  /**
   * Whether the invariant does not hold at the beginning, or an action leads out of it. Few nodes
   * are searched first, which is quick where it is enough.
   */
  static boolean isRefuted(Model model) {
    return isBroken(model, (action, conjunct) -> Conditions.keptOnFewNodes(model, action, conjunct))
        || model.conjuncts().stream()
            .anyMatch(conjunct -> isPossible(Conditions.initially(model, conjunct)))
        || isBroken(model, (action, conjunct) -> Conditions.kept(model, action, conjunct));
  }

  private static boolean isBroken(Model model, BiFunction<Action, Conjunct, Query> kept) {
    return model.actions().stream()
        .anyMatch(
            action ->
                model.conjuncts().stream()
                    .anyMatch(conjunct -> isPossible(kept.apply(action, conjunct))));
  }

  private static boolean isPossible(Query query) {
    return decide(query) == Verdict.POSSIBLE;
  }
}
