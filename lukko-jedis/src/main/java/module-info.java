/** Lock nodes on Redis and Valkey through the driver Jedis. */
module dev.lukko.jedis {
  requires transitive dev.lukko;
  requires transitive dev.lukko.redis.protocol;
  requires transitive redis.clients.jedis;
  requires org.apache.commons.pool2; // the driver's, which it cannot ask for itself, as the next
  requires org.slf4j;
  requires jdk.net; // the times of keep-alive probes
  requires static org.jspecify;

  exports dev.lukko.jedis;
}
