/** Fencing tokens over HTTP. */
module dev.lukko.http {
  requires transitive dev.lukko;
  requires static transitive java.net.http;
  requires static transitive jakarta.servlet;
  requires static org.jspecify;

  exports dev.lukko.http;
}
