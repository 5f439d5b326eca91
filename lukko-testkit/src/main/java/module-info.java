/** What stores and applications that use Lukko are tested with. */
module dev.lukko.testkit {
  requires transitive dev.lukko;
  requires static transitive org.jspecify;

  exports dev.lukko.testkit;
}
