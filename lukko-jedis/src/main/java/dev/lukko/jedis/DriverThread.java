package dev.lukko.jedis;

/** A thread that waits for one connection: a daemon. */
final class DriverThread extends Thread {

  DriverThread(String name, Runnable work) {
    super(work, name);
    setDaemon(true);
  }
}
