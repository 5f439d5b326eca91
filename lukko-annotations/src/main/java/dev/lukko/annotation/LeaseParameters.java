package dev.lukko.annotation;

import dev.lukko.Lease;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The parameters of a method that get its lease, or the token of it. */
public final class LeaseParameters {
  private final List<Integer> leases = new ArrayList<>();
  private final List<Integer> tokens = new ArrayList<>();

  private LeaseParameters() {}

  /**
   * Those of this method.
   *
   * @throws IllegalArgumentException if a token is wanted by a parameter that cannot have one
   */
  public static LeaseParameters of(Method method) {
    LeaseParameters found = new LeaseParameters();
    Parameter[] parameters = method.getParameters();
    for (int i = 0; i < parameters.length; i++) {
      Class<?> type = parameters[i].getType();
      if (parameters[i].isAnnotationPresent(FencingToken.class)) {
        if (type != long.class && type != Long.class) {
          throw new IllegalArgumentException(
              "parameter "
                  + parameters[i].getName()
                  + " of "
                  + method
                  + " has @FencingToken and the type "
                  + type.getName()
                  + "; it must be long");
        }
        found.tokens.add(i);
      } else if (type == Lease.class) {
        found.leases.add(i);
      }
    }
    return found;
  }

  /** Whether there are none. */
  public boolean isEmpty() {
    return leases.isEmpty() && tokens.isEmpty();
  }

  /** The arguments with the lease and its token in their places; what was given is not changed. */
  public @Nullable Object[] with(Lease lease, @Nullable Object[] arguments) {
    @Nullable Object[] injected = arguments.clone();
    leases.forEach(index -> injected[index] = lease);
    tokens.forEach(index -> injected[index] = lease.fencingToken());
    return injected;
  }
}
