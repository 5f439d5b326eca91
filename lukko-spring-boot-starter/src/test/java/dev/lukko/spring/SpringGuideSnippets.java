package dev.lukko.spring;

import dev.lukko.Lease;
import dev.lukko.LockBusyException;
import dev.lukko.annotation.FencingToken;
import dev.lukko.annotation.LockResult;
import dev.lukko.annotation.Locked;
import dev.lukko.annotation.OnBusy;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.annotation.Transactional;

/** The Java of the guide to Spring. */
class SpringGuideSnippets {

  interface Ledger {
    void post(long id, long token);
  }

  record Receipt(long id) {}

  static class Billing {
    private Ledger ledger;

    // begin spring-locked
    @Locked(key = "'invoice:' + #id", ttl = "30s", maxWait = "2s")
    @Transactional
    public void bill(long id, @FencingToken long token) { // callers give 0
      ledger.post(id, token);
    }
    // end spring-locked
  }

  static class Names {
    private Ledger ledger;

    // begin spring-locked-names
    @Locked(key = {"'account:' + #from", "'account:' + #to"})
    public void transfer(long from, long to) {}

    @Locked(key = "#ids.!['invoice:' + #this]")
    public void billAll(List<Long> ids, Lease lease) { // callers give null
      for (long id : ids) {
        lease.ensureValid();
        ledger.post(id, lease.fencingToken());
      }
    }
    // end spring-locked-names
  }

  static class Busy {
    // begin spring-locked-busy
    @Locked(key = "'report'", onBusy = OnBusy.SKIP)
    public LockResult<Receipt> report() {
      return LockResult.ran(new Receipt(7)); // its callers get a LockResult.Skipped otherwise
    }

    @Scheduled(cron = "0 0 3 * * *")
    @Locked(key = "'nightly'", onBusy = OnBusy.SKIP)
    public void nightly() {}

    @Locked(key = "'receipt:' + #id", onBusy = OnBusy.CALLBACK, callback = "billedElsewhere")
    public Receipt receipt(long id) {
      return new Receipt(id);
    }

    Receipt billedElsewhere(long id, LockBusyException busy) {
      return new Receipt(0);
    }
    // end spring-locked-busy
  }

  static class Composed {
    // begin spring-locked-composed
    @Retention(RetentionPolicy.RUNTIME)
    @Locked(key = "'customer:' + #customer", ttl = "30s")
    @interface CustomerLocked {}
    // end spring-locked-composed
  }

  static class Customized {
    // begin spring-customizer
    @Bean
    LockClientCustomizer lockClientCustomizer() {
      return builder -> builder.retryDelay(Duration.ofMillis(50)).traceLeaks(true);
    }
    // end spring-customizer
  }
}
