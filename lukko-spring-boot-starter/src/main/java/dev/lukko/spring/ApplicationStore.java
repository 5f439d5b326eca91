package dev.lukko.spring;

import dev.lukko.spi.LockNode;
import java.util.List;

/** A store that the application has anyway, and that can hold its locks. */
interface ApplicationStore {

  /** What it is, for the log. */
  String description();

  /** Opens the nodes of the lock in it. */
  List<LockNode> open();
}
