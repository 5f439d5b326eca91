package dev.lukko.compat;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.properties.HasName;
import com.tngtech.archunit.lang.ArchRule;
import dev.lukko.architecture.ArchitectureRules;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The shape of every module that the root's pom names, of those too that are added later. What
 * holds inside the core is said by its own test.
 */
class EveryModuleTest {

  /** They start processes and threads, wait for them and print: that is what they are for. */
  private static final Set<String> PROGRAMS = Set.of("lukko-cli", "lukko-testkit");

  /** A thread that the node recognises by its type when it is closed. */
  private static final DescribedPredicate<JavaClass> LOOKED_AT =
      not(HasName.Predicates.name("dev.lukko.jedis.DriverThread"));

  private static List<BuiltModule> modules = List.of();
  private static ModuleTable table;

  @BeforeAll
  static void readModules() throws IOException {
    modules = BuiltModule.all();
    table = ModuleTable.read();
  }

  @TestFactory
  Stream<DynamicNode> everyPublishedModuleKeepsTheRules() {
    return published()
        .map(
            module -> {
              JavaClasses classes = module.classes().that(LOOKED_AT);
              return dynamicContainer(
                  module.name(),
                  Stream.concat(
                      Stream.of(
                          dynamicTest(
                              "wasBuilt",
                              () ->
                                  assertThat(classes)
                                      .as(
                                          "classes of %s: build it first, and let lukko-compat"
                                              + " depend on it",
                                          module.name())
                                      .isNotEmpty())),
                      rules(module).entrySet().stream()
                          .map(rule -> test(rule.getKey(), rule.getValue(), classes))));
            });
  }

  private static DynamicTest test(String name, ArchRule rule, JavaClasses classes) {
    return dynamicTest(name, () -> rule.check(classes));
  }

  private static Map<String, ArchRule> rules(BuiltModule module) {
    Map<String, ArchRule> rules = new HashMap<>();
    rules.put("knowsTheModulesOfItsRow", ArchitectureRules.knowOnlyThePackages(known(module)));
    rules.put("packagesAreFreeOfCycles", ArchitectureRules.packagesAreFreeOfCycles());
    rules.put("packagesAreNullMarked", ArchitectureRules.packagesAreNullMarked());
    rules.put("addressesAreMadePrintable", ArchitectureRules.addressesAreMadePrintable());
    rules.put(
        "publicSignaturesNameOnlyPublicTypes",
        ArchitectureRules.publicSignaturesNameOnlyPublicTypes());
    if (!PROGRAMS.contains(module.name())) {
      rules.put(
          "clocksAndThreadsComeInThroughTime",
          ArchitectureRules.noClockOrThreadOutside(ArchitectureRules.TIME));
      rules.put("nothingIsPrinted", ArchitectureRules.nothingIsPrinted());
    }
    return rules;
  }

  private static Set<String> known(BuiltModule module) {
    Set<String> allowed = table.allowedTo(module.name());
    Set<String> packages = new TreeSet<>(module.packages());
    modules.stream()
        .filter(each -> allowed.contains(each.name()))
        .forEach(each -> packages.addAll(each.packages()));
    return packages;
  }

  @Test
  void everyModuleHasARowInTheTableAndEveryRowAModule() {
    assertThat(table.folders())
        .containsExactlyInAnyOrderElementsOf(modules.stream().map(BuiltModule::name).toList());
  }

  @Test
  void everyPublishedModuleIsBuiltBeforeItIsLookedAt() {
    BuiltModule own =
        modules.stream().filter(each -> each.name().equals("lukko-compat")).findAny().orElseThrow();

    assertThat(own.dependencies())
        .as("dependencies of lukko-compat; of a module that is not used there, its pom alone")
        .containsAll(published().map(BuiltModule::artifact).toList());
  }

  @Test
  void publishedModulesDoNotDependOnThoseThatNobodyGets() {
    List<String> kept =
        modules.stream().filter(each -> !each.isPublished()).map(BuiltModule::artifact).toList();

    assertThat(kept).contains("lukko-bench", "lukko-compat");
    assertThat(published())
        .allSatisfy(
            each ->
                assertThat(each.dependencies()).as(each.name()).doesNotContainAnyElementsOf(kept));
  }

  @Test
  void everyPublishedModuleHasAModuleDescriptor() {
    assertThat(published().toList()).hasSizeGreaterThan(7);
    assertThat(published())
        .allSatisfy(each -> assertThat(each.hasAModuleDescriptor()).as(each.name()).isTrue());
  }

  @Test
  void noTwoModulesShareAPackage() {
    Map<String, String> owners = new HashMap<>();
    published()
        .forEach(
            module ->
                module
                    .packages()
                    .forEach(
                        each ->
                            assertThat(owners.put(each, module.name()))
                                .as("another module with the package %s of %s", each, module.name())
                                .isNull()));
  }

  private static Stream<BuiltModule> published() {
    return modules.stream().filter(BuiltModule::isPublished);
  }
}
