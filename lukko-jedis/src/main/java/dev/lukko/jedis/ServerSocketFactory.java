package dev.lukko.jedis;

import dev.lukko.redis.protocol.RedisAddress.Place;
import dev.lukko.redis.protocol.RedisAddress.Tls;
import dev.lukko.redis.protocol.TlsFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketOption;
import java.security.GeneralSecurityException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * Makes the one socket of a connection: the driver would make another one by itself when that has
 * broken, and send to a server that nobody has looked at.
 */
final class ServerSocketFactory implements JedisSocketFactory {
  /** In seconds, and the number of probes. */
  private static final Map<String, Integer> KEEP_ALIVE =
      Map.of("TCP_KEEPIDLE", 5, "TCP_KEEPINTERVAL", 1, "TCP_KEEPCOUNT", 3);

  private final Place place;
  private final @Nullable Tls tls;
  private final int timeoutMillis;
  private final AtomicBoolean used = new AtomicBoolean();

  ServerSocketFactory(Place place, @Nullable Tls tls, int timeoutMillis) {
    this.place = place;
    this.tls = tls;
    this.timeoutMillis = timeoutMillis;
  }

  @Override
  public Socket createSocket() {
    if (!used.compareAndSet(false, true)) {
      throw new JedisConnectionException("the connection has ended");
    }
    String host = place.host().startsWith("[") ? unbracketed(place.host()) : place.host();
    try {
      IOException refused = null;
      for (InetAddress address : InetAddress.getAllByName(host)) {
        Socket socket = new Socket();
        try {
          socket.setTcpNoDelay(true);
          keepAlive(socket);
          socket.setSoTimeout(timeoutMillis); // until the handshake is done
          socket.connect(new InetSocketAddress(address, place.port()), timeoutMillis);
          return new BoundedSocket(tls == null ? socket : secured(socket, host, tls));
        } catch (IOException failed) {
          socket.close();
          refused = failed;
        }
      }
      throw refused == null ? new IOException("no address") : refused;
    } catch (IOException failed) {
      throw new JedisConnectionException(String.valueOf(failed.getMessage()), failed);
    }
  }

  /**
   * A link that is dead while nothing is asked is noticed after 8 s, where the platform can: by
   * name, since a runtime may lack the module that has these options.
   */
  private static void keepAlive(Socket socket) throws IOException {
    socket.setKeepAlive(true);
    for (SocketOption<?> option : socket.supportedOptions()) {
      Integer value = KEEP_ALIVE.get(option.name());
      if (value != null && option.type() == Integer.class) {
        @SuppressWarnings("unchecked") // by its type
        SocketOption<Integer> known = (SocketOption<Integer>) option;
        socket.setOption(known, value);
      }
    }
  }

  private static String unbracketed(String host) {
    return host.substring(1, host.length() - 1);
  }

  private Socket secured(Socket socket, String host, Tls how) throws IOException {
    SSLSocket secured =
        (SSLSocket) sockets(how.files()).createSocket(socket, host, place.port(), true);
    SSLParameters parameters = secured.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm(how.checksHost() ? "HTTPS" : null);
    secured.setSSLParameters(parameters);
    secured.startHandshake();
    return secured;
  }

  private static SSLSocketFactory sockets(TlsFiles files) {
    TrustManagerFactory trust = files.trust();
    KeyManagerFactory keys = files.keys();
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(
          keys == null ? null : keys.getKeyManagers(),
          trust == null ? null : trust.getTrustManagers(),
          null);
      return context.getSocketFactory();
    } catch (GeneralSecurityException unusable) {
      throw new IllegalStateException("TLS cannot be used", unusable);
    }
  }
}
