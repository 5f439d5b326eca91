package dev.lukko.spec.epr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.lukko.spec.epr.Z3.Verdict;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The proofs are of something: nothing is proved of an action that can never happen. */
@Execution(ExecutionMode.CONCURRENT)
class VacuityTest {
  @TestFactory
  Stream<DynamicTest> eachActionIsPossibleInABusyStateOfTheInvariant() {
    return possible(Models.all());
  }

  @Tag("ci-model")
  @TestFactory
  Stream<DynamicTest> eachActionOfADeepModelIsPossibleInABusyStateOfTheInvariant() {
    return possible(Models.deep());
  }

  private static Stream<DynamicTest> possible(List<Model> models) {
    return Models.proved(models).entrySet().stream()
        .flatMap(
            proved ->
                proved.getValue().actions().stream()
                    .map(
                        action ->
                            dynamicTest(
                                proved.getKey() + ", " + action.name(),
                                () ->
                                    Checks.assertVerdict(
                                        Conditions.possible(proved.getValue(), action),
                                        Verdict.POSSIBLE))));
  }

  @Tag("ci-model")
  @TestFactory
  Stream<DynamicTest> eachConjunctIsNeeded() {
    return Models.all().stream()
        .flatMap(
            model ->
                model.conjuncts().stream()
                    .filter(conjunct -> !conjunct.isProperty())
                    .map(
                        conjunct ->
                            dynamicTest(
                                model.name() + ", " + conjunct.name(),
                                () ->
                                    assertThat(Checks.isRefuted(model.without(conjunct)))
                                        .isTrue())));
  }
}
