package dev.lukko.spec.epr;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Proofs are skipped where there is no solver; where the build brings one, it must be there. */
class SolverTest {
  @Test
  @EnabledOnOs(value = OS.LINUX, architectures = "amd64")
  void solverIsThere() {
    assertThat(Z3.origin()).startsWith("Z3 4.14.1");
  }
}
