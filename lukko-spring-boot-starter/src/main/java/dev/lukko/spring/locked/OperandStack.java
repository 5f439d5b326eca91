package dev.lukko.spring.locked;

import java.util.BitSet;

/** The slots of a method's operand stack, each of which is {@code this} or is not. */
final class OperandStack {
  private final BitSet receivers;
  private int depth;

  OperandStack() {
    this(new BitSet(), 0);
  }

  private OperandStack(BitSet receivers, int depth) {
    this.receivers = receivers;
    this.depth = depth;
  }

  OperandStack copy() {
    return new OperandStack((BitSet) receivers.clone(), depth);
  }

  void pushThis() {
    receivers.set(depth++);
  }

  void push(int slots) {
    receivers.clear(depth, depth + slots);
    depth += slots;
  }

  void pop(int slots) {
    depth = Math.max(0, depth - slots); // Code that nothing leads to may begin anywhere.
  }

  /** Whether the slot that is so many below the next one is {@code this}. */
  boolean isThis(int below) {
    return depth >= below && receivers.get(depth - below);
  }

  /** Copies the topmost slots to below so many others. */
  void duplicate(int slots, int below) {
    int from = Math.max(0, depth - slots - below);
    int moved = depth - from;
    BitSet old = receivers.get(from, depth);
    for (int i = 0; i < slots; i++) {
      receivers.set(from + i, old.get(moved - slots + i));
    }
    for (int i = 0; i < moved; i++) {
      receivers.set(from + slots + i, old.get(i));
    }
    depth += slots;
  }

  void swap() {
    boolean top = isThis(1);
    boolean under = isThis(2);
    pop(2);
    receivers.set(depth, top);
    receivers.set(depth + 1, under);
    depth += 2;
  }
}
