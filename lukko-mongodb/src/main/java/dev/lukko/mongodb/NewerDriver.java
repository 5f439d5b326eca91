package dev.lukko.mongodb;

import com.mongodb.client.MongoCollection;
import java.util.concurrent.TimeUnit;

/** The driver must be one that can bound a request as a whole. */
final class NewerDriver {
  private NewerDriver() {}

  /**
   * Refuses a version that is too old.
   *
   * @throws IllegalStateException naming the one that is needed
   */
  static void check() {
    try {
      MongoCollection.class.getMethod("withTimeout", long.class, TimeUnit.class);
    } catch (NoSuchMethodException older) {
      throw new IllegalStateException(
          "the MongoDB driver mongodb-driver-sync is too old: version 5.2 or later is needed, which"
              + " can bound the time of a request as a whole",
          older);
    }
  }
}
