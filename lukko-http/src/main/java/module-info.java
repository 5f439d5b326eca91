/** Fencing tokens over HTTP. */
module dev.lukko.http {
  requires transitive dev.lukko;
  requires static transitive java.net.http;
  requires static jakarta.servlet; // only for those who use the filter, and have it
  requires static org.jspecify;

  exports dev.lukko.http;
}
