package dev.lukko.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.members;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

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
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.stream.Stream;

/**
 * The building blocks of the architecture tests: that of the core, and that of {@code
 * lukko-compat}, which looks at every module.
 */
public final class ArchitectureRules {

  public static final String CONTRACT = "dev.lukko";
  public static final String SPI = "dev.lukko.spi..";
  public static final String LEASE = "dev.lukko.lease..";
  public static final String REDLOCK = "dev.lukko.redlock..";
  public static final String RELEASE = "dev.lukko.release..";
  public static final String ONCE = "dev.lukko.once..";
  public static final String MEMORY = "dev.lukko.memory..";
  public static final String FENCING = "dev.lukko.fencing..";
  public static final String SCHEDULE = "dev.lukko.schedule..";
  public static final String TIME = "dev.lukko.time..";

  /** What every package may use: it knows nothing itself. */
  public static final String TEXT = "dev.lukko.text..";

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

  /** Who else takes an address apart, and repeats it in an error if it cannot be read. */
  private static final Map<String, Set<String>> PARSERS_OF_ADDRESSES =
      Map.of(
          "java.net.URI", Set.of("create", "<init>"),
          "java.net.URL", Set.of("<init>"),
          "java.sql.DriverManager", Set.of("getConnection", "getDriver"),
          "java.sql.Driver", Set.of("connect", "acceptsURL"),
          "io.lettuce.core.RedisURI", Set.of("create"),
          "redis.clients.jedis.HostAndPort", Set.of("from"),
          "com.mongodb.ConnectionString", Set.of("<init>"),
          "com.mongodb.client.MongoClients", Set.of("create"));

  private ArchitectureRules() {}

  /** The classes of {@code pkg} depend, inside Lukko, on {@code pkg} and {@code others} alone. */
  public static ArchRule mayKnow(String pkg, String... others) {
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

  /** The classes depend, inside Lukko, on these packages alone, each named as it is. */
  public static ArchRule knowOnlyThePackages(Set<String> packages) {
    return classes()
        .should()
        .onlyDependOnClassesThat(
            resideOutsideOfPackages("dev.lukko..")
                .or(
                    describe(
                        "reside in one of " + packages,
                        known -> packages.contains(known.getPackageName()))))
        .allowEmptyShould(true);
  }

  public static ArchRule packagesAreFreeOfCycles() {
    return slices().matching("dev.(**)").should().beFreeOfCycles().allowEmptyShould(true);
  }

  /** Null is said in signatures, in every package. */
  public static ArchRule packagesAreNullMarked() {
    return classes()
        .should(
            ArchCondition.from(
                describe(
                    "reside in a package that is @NullMarked",
                    each ->
                        each.getPackage().isAnnotatedWith("org.jspecify.annotations.NullMarked"))))
        .allowEmptyShould(true);
  }

  /**
   * Who has an address taken apart by the JDK or a driver cleans what these say of it: their errors
   * repeat the address, with the password.
   */
  public static ArchRule addressesAreMadePrintable() {
    return classes()
        .that(
            describe(
                "have an address read by somebody else",
                each ->
                    each.getAccessesFromSelf().stream()
                        .anyMatch(ArchitectureRules::readsAnAddress)))
        .should()
        .dependOnClassesThat()
        .resideInAPackage(TEXT)
        .allowEmptyShould(true);
  }

  /** What a library has to say goes to a logger, an event or an error. */
  public static ArchRule nothingIsPrinted() {
    return NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS.allowEmptyShould(true);
  }

  /**
   * No class outside {@code pkg} reads a clock, sleeps, or starts a thread, be it by a call or by a
   * method reference: a simulation that cannot see a delay or a thread cannot replay it.
   */
  public static ArchRule noClockOrThreadOutside(String pkg) {
    return noClasses()
        .that()
        .resideOutsideOfPackage(pkg)
        .should()
        .accessTargetWhere(
            describe("takes time or threads from the JDK", ArchitectureRules::takesTimeOrThread))
        .allowEmptyShould(true);
  }

  /** What a caller can call, a caller can also name: its parameters, result, exceptions, type. */
  public static ArchRule publicSignaturesNameOnlyPublicTypes() {
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

  /** The compiler sees to types of others, whose classes may not be at hand here. */
  private static boolean isVisible(JavaClass type) {
    JavaClass base = type.getBaseComponentType();
    return base.isPrimitive()
        || !resideInAPackage("dev.lukko..").test(base)
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

  private static boolean readsAnAddress(JavaAccess<?> access) {
    AccessTarget target = access.getTarget();
    return PARSERS_OF_ADDRESSES.entrySet().stream()
        .anyMatch(
            parser ->
                parser.getValue().contains(target.getName())
                    && target.getOwner().isAssignableTo(parser.getKey()));
  }

  private static boolean isSystemClock(AccessTarget target) {
    return target.getOwner().isEquivalentTo(Clock.class)
        && (target.getName().startsWith("system") || target.getName().startsWith("tick"));
  }

  /** A class of Lukko's own that is one has called the constructor of the JDK's itself. */
  private static boolean isNewThread(AccessTarget target) {
    return target.getName().equals("<init>")
        && !resideInAPackage("dev.lukko..").test(target.getOwner())
        && (target.getOwner().isAssignableTo(Thread.class)
            || target.getOwner().isAssignableTo(Timer.class)
            || target.getOwner().isAssignableTo(ForkJoinPool.class)
            || (target.getOwner().isAssignableTo(ThreadPoolExecutor.class)
                && !takes(ThreadFactory.class, target)));
  }

  private static boolean takes(Class<?> type, AccessTarget target) {
    return target instanceof CodeUnitAccessTarget method
        && method.getRawParameterTypes().stream()
            .anyMatch(parameter -> parameter.isEquivalentTo(type));
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
    return target.getName().endsWith("Async") && !takes(Executor.class, target);
  }
}
