package dev.lukko.testkit.rows;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** The rows of the table of fault scenarios that a test is, or is a part of. */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Tag("fault-row")
@ExtendWith(FaultRowWatcher.class)
public @interface FaultRow {

  /** Numbers from 1 to {@link FaultRows#COUNT}. */
  int[] value();
}
