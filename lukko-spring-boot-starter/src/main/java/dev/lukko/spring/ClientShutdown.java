package dev.lukko.spring;

import dev.lukko.LockClient;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

/**
 * Closes the lock client when the application ends: after the web server has answered its last
 * request and the schedulers have run their last task, and before connections end. A context that
 * is only stopped, and may go on, keeps it.
 */
final class ClientShutdown implements SmartLifecycle, ApplicationListener<ContextClosedEvent> {
  /** Below that of executors, half of the largest number, and above that of connections, zero. */
  private static final int PHASE = Integer.MAX_VALUE / 4;

  private final LockClient client;
  private final ApplicationContext context;
  private volatile boolean running;
  private volatile boolean closing;

  ClientShutdown(LockClient client, ApplicationContext context) {
    this.client = client;
    this.context = context;
  }

  @Override
  public void onApplicationEvent(ContextClosedEvent event) {
    if (event.getApplicationContext() == context) {
      closing = true;
    }
  }

  @Override
  public void start() {
    running = true;
  }

  @Override
  public void stop() {
    running = false;
    if (closing) {
      client.close();
    }
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return PHASE;
  }
}
