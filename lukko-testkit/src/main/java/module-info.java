/** What stores and applications that use Lukko are tested with. */
module dev.lukko.testkit {
  requires transitive dev.lukko;
  requires static org.assertj.core;
  requires static org.jspecify;
  requires static org.junit.jupiter.api;

  exports dev.lukko.testkit;
  exports dev.lukko.testkit.contract;
  exports dev.lukko.testkit.sim;

  // JUnit calls the tests of the contract, whose groups are package-private.
  opens dev.lukko.testkit.contract;
}
