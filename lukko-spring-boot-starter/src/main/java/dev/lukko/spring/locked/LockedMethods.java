package dev.lukko.spring.locked;

import dev.lukko.annotation.BusyAnswer;
import dev.lukko.annotation.LeaseParameters;
import dev.lukko.annotation.LockSettings;
import dev.lukko.annotation.Locked;
import dev.lukko.annotation.MethodCall;
import dev.lukko.annotation.OnBusy;
import dev.lukko.annotation.SkippedAnswer;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.MethodClassKey;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/** The methods that have locks, each read once. */
final class LockedMethods {
  private static final String TRANSACTIONAL =
      "org.springframework.transaction.annotation.Transactional";

  private final Map<MethodClassKey, LockedMethod> known = new ConcurrentHashMap<>();
  private final ConfigurableBeanFactory beans;
  private final SpelKeyParser keys;
  private final Supplier<Duration> defaultTtl;

  LockedMethods(ConfigurableBeanFactory beans, Supplier<Duration> defaultTtl) {
    this.beans = beans;
    this.keys = new SpelKeyParser(beans);
    this.defaultTtl = defaultTtl;
  }

  /** Whether there is a lock at all; reads nothing but annotations. */
  static boolean isLocked(Method method, Class<?> targetClass) {
    return !LockedAnnotations.of(method, targetClass).isEmpty();
  }

  /**
   * A method that has locks.
   *
   * @throws IllegalStateException if something is wrong with one; names the method
   */
  LockedMethod of(Method method, Class<?> targetClass) {
    MethodClassKey key = new MethodClassKey(method, targetClass);
    LockedMethod found = known.get(key);
    if (found == null) {
      found = read(AopUtils.getMostSpecificMethod(method, targetClass), targetClass);
      known.put(key, found);
    }
    return found;
  }

  private LockedMethod read(Method method, Class<?> targetClass) {
    try {
      ReturnKind kind = ReturnKind.of(method);
      List<Locked> locks = LockedAnnotations.of(method, targetClass);
      LeaseParameters parameters = LeaseParameters.of(method);
      if (locks.size() > 1 && !parameters.isEmpty()) {
        throw new IllegalArgumentException(
            "it has "
                + locks.size()
                + " locks, and a parameter for a lease or token; of which is not clear. Several"
                + " names in one @Locked are one lease");
      }
      List<LockStep> steps =
          locks.stream().map(locked -> step(locked, method, targetClass, kind)).toList();
      return new LockedMethod(method, steps, kind, parameters, hasOwnTransaction(method));
    } catch (IllegalArgumentException refused) {
      throw new IllegalStateException(
          "@Locked on " + describe(method) + ": " + refused.getMessage(), refused);
    }
  }

  static String describe(Method method) {
    return method.getDeclaringClass().getName()
        + "."
        + method.getName()
        + Arrays.stream(method.getParameterTypes())
            .map(Class::getSimpleName)
            .toList()
            .toString()
            .replace('[', '(')
            .replace(']', ')');
  }

  private LockStep step(Locked locked, Method method, Class<?> targetClass, ReturnKind kind) {
    List<String> expressions = Arrays.stream(locked.key()).map(this::resolved).toList();
    Duration ttl = duration("ttl", locked.ttl());
    LockSettings settings =
        new LockSettings(
            keys.parse(expressions, method),
            ttl == null ? defaultTtl.get() : ttl,
            duration("maxWait", locked.maxWait()),
            locked);
    return new LockStep(settings, whenBusy(locked, method, targetClass, kind));
  }

  private static Function<MethodCall, BusyAnswer> whenBusy(
      Locked locked, Method method, Class<?> targetClass, ReturnKind kind) {
    if (locked.onBusy() == OnBusy.CALLBACK) {
      return BusyCallback.find(method, targetClass, locked.callback())::answerFor;
    }
    if (!locked.callback().isEmpty()) {
      throw new IllegalArgumentException(
          "callback is \"" + locked.callback() + "\"; onBusy must be CALLBACK then");
    }
    if (locked.onBusy() == OnBusy.THROW) {
      return call -> BusyAnswer.rethrow();
    }
    ResolvableType value = kind.valueOf(method, targetClass);
    BusyAnswer skipped =
        SkippedAnswer.of(value.getType())
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "onBusy is SKIP and it gives a "
                            + value
                            + ", so that its caller could not tell a skipped run; it must give"
                            + " nothing, or a LockResult<...>"));
    return call -> skipped;
  }

  private @Nullable Duration duration(String field, String text) {
    String resolved = resolved(text).strip();
    if (resolved.isEmpty()) {
      return null;
    }
    try {
      return DurationStyle.detectAndParse(resolved);
    } catch (IllegalArgumentException malformed) {
      throw new IllegalArgumentException(
          field + " is \"" + resolved + "\"; it must be a duration such as 500ms, 30s or 2m",
          malformed);
    }
  }

  private String resolved(String text) {
    return Objects.requireNonNullElse(beans.resolveEmbeddedValue(text), "");
  }

  private static boolean hasOwnTransaction(Method method) {
    MergedAnnotation<?> own =
        MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).get(TRANSACTIONAL);
    if (!own.isPresent()) {
      own =
          MergedAnnotations.from(method.getDeclaringClass(), SearchStrategy.TYPE_HIERARCHY)
              .get(TRANSACTIONAL);
    }
    if (!own.isPresent()) {
      return false;
    }
    String propagation = String.valueOf(own.getValue("propagation").orElse(""));
    return propagation.equals("REQUIRES_NEW") || propagation.equals("NOT_SUPPORTED");
  }
}
