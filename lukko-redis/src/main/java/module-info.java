/** Lock nodes and fence on Redis and Valkey. */
module dev.lukko.redis {
  requires transitive dev.lukko;
  requires transitive dev.lukko.redis.protocol;
  requires transitive lettuce.core;
  requires jdk.net; // the times of keep-alive probes
  requires static org.jspecify;
  requires io.netty.buffer;
  requires io.netty.common;
  requires io.netty.handler;
  requires io.netty.resolver.dns; // the driver's, which it cannot ask for itself
  requires io.netty.transport;

  exports dev.lukko.redis;
}
