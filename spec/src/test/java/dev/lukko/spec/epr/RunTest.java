package dev.lukko.spec.epr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.lukko.spec.epr.Model.Run;
import dev.lukko.spec.epr.Z3.Verdict;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What the protocol allows can happen, and what goes wrong without one of its rules does. */
@Execution(ExecutionMode.CONCURRENT)
class RunTest {
  @TestFactory
  Stream<DynamicNode> runIsPossibleWhereItMustBeAndNowhereElse() {
    return Stream.concat(Models.all().stream(), Models.deep().stream())
        .map(
            model ->
                dynamicContainer(
                    model.name(), model.runs().stream().flatMap(run -> tests(model, run))));
  }

  private static Stream<DynamicTest> tests(Model model, Run run) {
    return Stream.concat(
        run.possible().stream().map(variant -> test(model, run, variant, Verdict.POSSIBLE)),
        run.impossible().stream().map(variant -> test(model, run, variant, Verdict.IMPOSSIBLE)));
  }

  private static DynamicTest test(Model model, Run run, String variant, Verdict expected) {
    return dynamicTest(
        run.name() + ", " + variant,
        () ->
            assertThat(Checks.decide(Conditions.run(Models.read(model, variant), run)))
                .isEqualTo(expected));
  }
}
