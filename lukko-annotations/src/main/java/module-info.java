/** Locks by annotation, and what a framework needs to honour them. */
module dev.lukko.annotation {
  requires transitive dev.lukko;
  requires static org.jspecify;

  exports dev.lukko.annotation;
}
