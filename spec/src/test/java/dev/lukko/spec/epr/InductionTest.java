package dev.lukko.spec.epr;

import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The invariants hold at the beginning and are kept by each action, for any number of nodes. */
@Execution(ExecutionMode.CONCURRENT)
class InductionTest {
  @TestFactory
  Stream<DynamicNode> eachActionKeepsEachConjunct() {
    return tests(Models.all());
  }

  @Tag("ci-model")
  @TestFactory
  Stream<DynamicNode> eachActionKeepsEachConjunctOfADeepModel() {
    return tests(Models.deep());
  }

  private static Stream<DynamicNode> tests(List<Model> models) {
    return Models.proved(models).entrySet().stream()
        .map(proved -> dynamicContainer(proved.getKey(), Checks.ofInduction(proved.getValue())));
  }
}
