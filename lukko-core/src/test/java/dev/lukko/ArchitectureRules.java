package dev.lukko;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.members;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Clock;
import java.util.Map;
import java.util.Set;
import java.util.Timer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.stream.Stream;

/** The building blocks of {@link ArchitectureTest}. */
final class ArchitectureRules {

  static final String CONTRACT = "dev.lukko";
  static final String SPI = "dev.lukko.spi..";
  static final String LEASE = "dev.lukko.lease..";
  static final String REDLOCK = "dev.lukko.redlock..";
  static final String RELEASE = "dev.lukko.release..";
  static final String MEMORY = "dev.lukko.memory..";
  static final String FENCING = "dev.lukko.fencing..";
  static final String SCHEDULE = "dev.lukko.schedule..";
  static final String TIME = "dev.lukko.time..";

  /** What every package may use: it knows nothing itself. */
  static final String TEXT = "dev.lukko.text..";

  /** Methods that read a clock of their own or block the thread, by the class that has them. */
  private static final Map<String, Set<String>> CLOCKS_AND_SLEEPS =
      Map.of(
          "java.lang.System", Set.of("currentTimeMillis", "nanoTime"),
          "java.lang.Thread", Set.of("sleep", "startVirtualThread", "ofVirtual", "ofPlatform"),
          "java.time.Instant", Set.of("now"),
          "java.time.LocalDateTime", Set.of("now"),
          "java.time.OffsetDateTime", Set.of("now"),
          "java.time.ZonedDateTime", Set.of("now"));

  /** Methods of futures that start a timer or a thread of the JDK's own. */
  private static final Set<String> TIMED_FUTURE_METHODS =
      Set.of("orTimeout", "completeOnTimeout", "delayedExecutor");

  private ArchitectureRules() {}

  /** The classes of {@code pkg} depend, inside Lukko, on {@code pkg} and {@code others} alone. */
  static ArchRule mayKnow(String pkg, String... others) {
    return classes()
        .that()
        .resideInAPackage(pkg)
        .should()
        .onlyDependOnClassesThat(
            resideOutsideOfPackages("dev.lukko..")
                .or(resideInAPackage(pkg))
                .or(resideInAPackage(TEXT))
                .or(resideInAnyPackage(others)))
        .allowEmptyShould(true);
  }

  /**
   * No class outside {@code pkg} reads a clock, sleeps, or starts a thread, be it by a call or by a
   * method reference: a simulation that cannot see a delay or a thread cannot replay it.
   */
  static ArchRule noClockOrThreadOutside(String pkg) {
    return noClasses()
        .that()
        .resideOutsideOfPackage(pkg)
        .should()
        .accessTargetWhere(
            describe("takes time or threads from the JDK", ArchitectureRules::takesTimeOrThread))
        .allowEmptyShould(true);
  }

  /** What a caller can call, a caller can also name: its parameters, result, exceptions, type. */
  static ArchRule publicSignaturesNameOnlyPublicTypes() {
    return members()
        .that(describe("callers can reach", ArchitectureRules::isReachable))
        .should(
            ArchCondition.from(
                describe(
                    "name only types that callers can see",
                    member -> typesOf(member).allMatch(ArchitectureRules::isVisible))))
        .allowEmptyShould(true);
  }

  private static boolean isReachable(JavaMember member) {
    boolean inheritable = !member.getOwner().getModifiers().contains(JavaModifier.FINAL);
    return isVisible(member.getOwner())
        && !member.getModifiers().contains(JavaModifier.SYNTHETIC)
        && (member.getModifiers().contains(JavaModifier.PUBLIC)
            || (inheritable && member.getModifiers().contains(JavaModifier.PROTECTED)));
  }

  private static Stream<JavaClass> typesOf(JavaMember member) {
    Stream<JavaClass> exceptions =
        member instanceof JavaCodeUnit method
            ? method.getExceptionTypes().stream()
            : Stream.<JavaClass>empty();
    return Stream.concat(member.getAllInvolvedRawTypes().stream(), exceptions);
  }

  private static boolean isVisible(JavaClass type) {
    JavaClass base = type.getBaseComponentType();
    return base.isPrimitive()
        || (base.getModifiers().contains(JavaModifier.PUBLIC)
            && base.getEnclosingClass().map(ArchitectureRules::isVisible).orElse(true));
  }

  private static boolean takesTimeOrThread(JavaAccess<?> access) {
    AccessTarget target = access.getTarget();
    return CLOCKS_AND_SLEEPS
            .getOrDefault(target.getOwner().getName(), Set.of())
            .contains(target.getName())
        || isSystemClock(target)
        || isNewThread(target)
        || isThreadSource(target)
        || isTimedOrPooledFuture(target);
  }

  private static boolean isSystemClock(AccessTarget target) {
    return target.getOwner().isEquivalentTo(Clock.class)
        && (target.getName().startsWith("system") || target.getName().startsWith("tick"));
  }

  private static boolean isNewThread(AccessTarget target) {
    return target.getName().equals("<init>")
        && (target.getOwner().isAssignableTo(Thread.class)
            || target.getOwner().isAssignableTo(Timer.class)
            || target.getOwner().isAssignableTo(ThreadPoolExecutor.class)
            || target.getOwner().isAssignableTo(ScheduledThreadPoolExecutor.class)
            || target.getOwner().isAssignableTo(ForkJoinPool.class));
  }

  private static boolean isThreadSource(AccessTarget target) {
    return target.getOwner().isEquivalentTo(Executors.class)
        || (target.getOwner().isEquivalentTo(ForkJoinPool.class)
            && target.getName().equals("commonPool"));
  }

  /** Also true of an {@code ...Async} method without an executor: it runs in the common pool. */
  private static boolean isTimedOrPooledFuture(AccessTarget target) {
    if (!target.getOwner().isAssignableTo(CompletionStage.class)) {
      return false;
    }
    if (TIMED_FUTURE_METHODS.contains(target.getName())) {
      return target.getOwner().isAssignableTo(CompletableFuture.class);
    }
    return target.getName().endsWith("Async")
        && target instanceof CodeUnitAccessTarget method
        && method.getRawParameterTypes().stream()
            .noneMatch(parameter -> parameter.isEquivalentTo(Executor.class));
  }
}
