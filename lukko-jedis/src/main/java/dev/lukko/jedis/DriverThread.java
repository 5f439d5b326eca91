package dev.lukko.jedis;

/** A thread that waits for one connection: a daemon that inherits no thread-locals. */
final class DriverThread extends Thread {

  DriverThread(String name, Runnable work) {
    super(null, work, name, 0, /* inheritThreadLocals= */ false);
    setDaemon(true);
  }
}
