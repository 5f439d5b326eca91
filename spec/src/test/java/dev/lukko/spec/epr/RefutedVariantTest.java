package dev.lukko.spec.epr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.lukko.spec.epr.Variant.Expected;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Without one of its rules the protocol cannot be proved: a proof of everything shows nothing. */
@Tag("ci-model")
@Execution(ExecutionMode.CONCURRENT)
class RefutedVariantTest {
  @TestFactory
  Stream<DynamicTest> variantIsRefuted() {
    return Stream.concat(Models.all().stream(), Models.deep().stream())
        .flatMap(
            model ->
                model.variants().values().stream()
                    .filter(variant -> variant.expected() == Expected.REFUTED)
                    .map(
                        variant ->
                            dynamicTest(
                                model.name() + ", " + variant.name(),
                                () ->
                                    assertThat(Checks.isRefuted(variant.applyTo(model)))
                                        .isTrue())));
  }
}
