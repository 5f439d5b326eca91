/** Distributed locks: the contract, the engine and the fence. */
module dev.lukko {
  requires static org.jspecify;
}
