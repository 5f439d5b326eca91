package dev.lukko;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.lukko.architecture.ArchitectureRules;

/**
 * The shape of the core: which package may know which, and where time and threads come in.
 *
 * <p>Rules hold over nothing until a package has classes, so that a package and its rule need not
 * arrive together. {@link ArchitectureRulesTest} shows that each rule can fail.
 */
@AnalyzeClasses(packages = "dev.lukko", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {

  @ArchTest
  static final ArchRule packagesAreFreeOfCycles = ArchitectureRules.packagesAreFreeOfCycles();

  @ArchTest
  static final ArchRule contractKnowsOnlyTime =
      ArchitectureRules.mayKnow(ArchitectureRules.CONTRACT, ArchitectureRules.TIME);

  @ArchTest
  static final ArchRule spiKnowsOnlyTheContract =
      ArchitectureRules.mayKnow(ArchitectureRules.SPI, ArchitectureRules.CONTRACT);

  @ArchTest
  static final ArchRule leaseKnowsOnlyTheContract =
      ArchitectureRules.mayKnow(
          ArchitectureRules.LEASE, ArchitectureRules.CONTRACT, ArchitectureRules.TIME);

  @ArchTest
  static final ArchRule redlockKnowsNoStore =
      ArchitectureRules.mayKnow(
          ArchitectureRules.REDLOCK,
          ArchitectureRules.LEASE,
          ArchitectureRules.SPI,
          ArchitectureRules.CONTRACT,
          ArchitectureRules.TIME);

  @ArchTest
  static final ArchRule memoryKnowsNoEngine =
      ArchitectureRules.mayKnow(
          ArchitectureRules.MEMORY,
          ArchitectureRules.SPI,
          ArchitectureRules.CONTRACT,
          ArchitectureRules.TIME);

  @ArchTest
  static final ArchRule releaseKnowsNoEngineAndNoStore =
      ArchitectureRules.mayKnow(
          ArchitectureRules.RELEASE,
          ArchitectureRules.SPI,
          ArchitectureRules.CONTRACT,
          ArchitectureRules.TIME);

  @ArchTest
  static final ArchRule fencingKnowsNoLockSide =
      ArchitectureRules.mayKnow(
          ArchitectureRules.FENCING, ArchitectureRules.CONTRACT, ArchitectureRules.TIME);

  @ArchTest
  static final ArchRule onceKnowsNoEngineAndNoStore =
      ArchitectureRules.mayKnow(
          ArchitectureRules.ONCE,
          ArchitectureRules.CONTRACT,
          ArchitectureRules.FENCING,
          ArchitectureRules.SPI,
          ArchitectureRules.TIME);

  @ArchTest
  static final ArchRule scheduleKnowsNoEngine =
      ArchitectureRules.mayKnow(
          ArchitectureRules.SCHEDULE,
          ArchitectureRules.CONTRACT,
          ArchitectureRules.FENCING,
          ArchitectureRules.SPI,
          ArchitectureRules.TIME);

  @ArchTest
  static final ArchRule textKnowsNothing = ArchitectureRules.mayKnow(ArchitectureRules.TEXT);

  @ArchTest
  static final ArchRule timeKnowsNothing = ArchitectureRules.mayKnow(ArchitectureRules.TIME);

  @ArchTest
  static final ArchRule everyPackageHasARule =
      classes()
          .should()
          .resideInAnyPackage(
              ArchitectureRules.CONTRACT,
              ArchitectureRules.SPI,
              ArchitectureRules.LEASE,
              ArchitectureRules.REDLOCK,
              ArchitectureRules.RELEASE,
              ArchitectureRules.ONCE,
              ArchitectureRules.MEMORY,
              ArchitectureRules.FENCING,
              ArchitectureRules.SCHEDULE,
              ArchitectureRules.TEXT,
              ArchitectureRules.TIME);

  @ArchTest
  static final ArchRule clocksAndThreadsComeInThroughTime =
      ArchitectureRules.noClockOrThreadOutside(ArchitectureRules.TIME);

  @ArchTest
  static final ArchRule publicSignaturesNameOnlyPublicTypes =
      ArchitectureRules.publicSignaturesNameOnlyPublicTypes();
}
