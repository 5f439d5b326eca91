package dev.lukko.spring.locked;

import dev.lukko.annotation.Locked;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ReflectionUtils;

/** Where {@link Locked} stands for a method: on itself, on what it overrides, or on its class. */
final class LockedAnnotations {
  private LockedAnnotations() {}

  /** The locks of a method, in their order; those of its class only if it has none of its own. */
  static List<Locked> of(Method method, Class<?> targetClass) {
    Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
    List<Locked> own = nearest(specific);
    return own.isEmpty() && isCoveredByClass(specific) ? nearest(targetClass) : own;
  }

  /** Those on the method itself and on what it overrides. */
  static List<Locked> onMethod(Method method) {
    return nearest(method);
  }

  /** Whether an annotation of the class is meant for the method. */
  static boolean isCoveredByClass(Method method) {
    return Modifier.isPublic(method.getModifiers())
        && !Modifier.isStatic(method.getModifiers())
        && !method.isSynthetic()
        && !ReflectionUtils.isObjectMethod(method)
        && !isOverriddenFromObject(method);
  }

  private static boolean isOverriddenFromObject(Method method) {
    return method.getName().equals("finalize") && method.getParameterCount() == 0;
  }

  /** An annotation hides those further up in the hierarchy; several at one place stand together. */
  private static List<Locked> nearest(AnnotatedElement element) {
    List<MergedAnnotation<Locked>> all =
        MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).stream(Locked.class)
            .toList();
    int nearest = all.stream().mapToInt(MergedAnnotation::getAggregateIndex).min().orElse(0);
    return all.stream()
        .filter(found -> found.getAggregateIndex() == nearest)
        .map(MergedAnnotation::synthesize)
        .toList();
  }
}
