package dev.lukko.annotation;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * A call of a method.
 *
 * @param target the object whose method it is
 * @param method the method, as the object's class has it
 * @param arguments what the caller gave
 */
@SuppressWarnings("ArrayRecordComponent") // As reflection has it; no call is compared to another.
public record MethodCall(Object target, Method method, @Nullable Object[] arguments) {}
