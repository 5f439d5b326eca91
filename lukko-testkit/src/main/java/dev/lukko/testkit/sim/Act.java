package dev.lukko.testkit.sim;

/** What a fault does. */
enum Act {
  /** The client's process stands still, in the middle of its step where there is one. */
  PAUSE,
  /** The client's machine is suspended: its monotonic clock stands still as well. */
  SUSPEND,
  KILL,
  LOSE_REQUEST,
  LOSE_REPLY,
  /**
   * The connection breaks, which the client learns at once; the request may arrive nevertheless.
   */
  RESET,
  /** Later messages wait behind this request. */
  DELAY_REQUEST,
  /** Later messages overtake this request, as over a new connection. */
  OVERTAKEN_REQUEST,
  DELAY_REPLY,
  /** The request arrives a second time, after a while. */
  REPEAT,
  /** The client's requests to some nodes are lost for a while. */
  CUT_REQUESTS,
  /** The replies of some nodes to the client are lost for a while. */
  CUT_REPLIES,
  CUT_BOTH,
  /** Messages between the client and some nodes are held back for a while. */
  HOLD_BOTH,
  /** The node refuses connections for a while. */
  DOWN,
  /** The node stands still for a while, and then does what it was asked. */
  HANG,
  /** The node restarts empty. */
  FORGET,
  /** The client's address of one node leads to another one for a while. */
  MOVE,
  /** A client that lists some of the nodes only looks at them, and admits them for itself. */
  NEIGHBOUR,
  /** The set of the fleet's nodes is changed to some of the nodes; whoever does it may die. */
  CHANGE,
  /** The node's clock jumps. */
  JUMP_NODE,
  /** The client's wall clock jumps. */
  JUMP_WALL,
  /** The write that was just sent is held back on its way to the resource. */
  HOLD_WRITE;
}
