package dev.lukko.spec.epr;

import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;

import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The invariants hold at the beginning and are kept by each action, for any number of nodes. */
@Execution(ExecutionMode.CONCURRENT)
class InductionTest {
  @TestFactory
  Stream<DynamicNode> eachActionKeepsEachConjunct() {
    return Models.proved().entrySet().stream()
        .map(proved -> dynamicContainer(proved.getKey(), Checks.ofInduction(proved.getValue())));
  }
}
