package dev.lukko.mongodb;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoExecutionTimeoutException;
import com.mongodb.MongoServerException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.MongoWriteConcernException;
import com.mongodb.MongoWriteException;
import dev.lukko.spi.Failed;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.Unknown;
import java.util.Set;

/** What a failure of the driver says of the request. */
final class Faults {
  private static final System.Logger LOG = System.getLogger(Faults.class.getName());

  /** Codes of answers that come while a write is under way, which it may have survived. */
  private static final Set<Integer> INTERRUPTED =
      Set.of(
          50, // MaxTimeMSExpired
          64, // WriteConcernFailed
          91, // ShutdownInProgress
          189, // PrimarySteppedDown
          262, // ExceededTimeLimit
          11_600, // InterruptedAtShutdown
          11_601, // Interrupted
          11_602); // InterruptedDueToReplStateChange

  private static final int DUPLICATE_KEY = 11_000;

  private Faults() {}

  /**
   * What became of a request.
   *
   * @param sent whether a write was under way, or had been applied
   * @param written whether one had been applied
   */
  static NodeFault of(Throwable failure, boolean sent, boolean written) {
    if (!(failure instanceof MongoException) && !isOurs(failure)) {
      LOG.log(System.Logger.Level.ERROR, "a request failed in an unexpected way", failure);
    }
    boolean certain = !sent || (!written && isRefusal(failure));
    return certain
        ? new Failed(describe(failure), failure)
        : new Unknown(describe(failure), failure);
  }

  /** Whether the server has answered, and has not written. */
  static boolean isRefusal(Throwable failure) {
    return isOurs(failure)
        || (failure instanceof MongoServerException answer
            && !(failure instanceof MongoWriteConcernException)
            && !(failure instanceof MongoExecutionTimeoutException)
            && !INTERRUPTED.contains(answer.getCode()));
  }

  private static boolean isOurs(Throwable failure) {
    return failure instanceof AlteredDocumentException
        || failure instanceof UnsuitableCollectionException;
  }

  static boolean isDuplicate(MongoException failure) {
    return failure.getCode() == DUPLICATE_KEY;
  }

  private static String describe(Throwable failure) {
    if (isOurs(failure)) {
      return String.valueOf(failure.getMessage());
    }
    if (failure instanceof MongoTimeoutException
        || failure instanceof MongoExecutionTimeoutException) {
      return "timeout: " + failure.getMessage();
    }
    if (failure instanceof MongoCommandException answer) {
      return answer.getErrorCodeName() + ": " + answer.getErrorMessage();
    }
    if (failure instanceof MongoWriteException answer) {
      return "WriteError " + answer.getCode() + ": " + answer.getError().getMessage();
    }
    return failure.getClass().getSimpleName() + ": " + failure.getMessage();
  }
}
