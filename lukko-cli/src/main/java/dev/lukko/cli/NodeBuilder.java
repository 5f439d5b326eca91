package dev.lukko.cli;

import dev.lukko.jedis.JedisNodeBuilder;
import dev.lukko.redis.RedisNodeBuilder;
import java.nio.file.Path;

/** What the builders of nodes are told of the way into servers, whichever driver they are for. */
interface NodeBuilder {

  void user(String name);

  void password(String password);

  void passwordFile(Path file);

  void caCertificates(Path file);

  void clientCertificate(Path certificate, Path key);

  static NodeBuilder of(JedisNodeBuilder nodes) {
    return new NodeBuilder() {
      @Override
      public void user(String name) {
        nodes.user(name);
      }

      @Override
      public void password(String password) {
        nodes.password(password);
      }

      @Override
      public void passwordFile(Path file) {
        nodes.passwordFile(file);
      }

      @Override
      public void caCertificates(Path file) {
        nodes.caCertificates(file);
      }

      @Override
      public void clientCertificate(Path certificate, Path key) {
        nodes.clientCertificate(certificate, key);
      }
    };
  }

  static NodeBuilder of(RedisNodeBuilder nodes) {
    return new NodeBuilder() {
      @Override
      public void user(String name) {
        nodes.user(name);
      }

      @Override
      public void password(String password) {
        nodes.password(password);
      }

      @Override
      public void passwordFile(Path file) {
        nodes.passwordFile(file);
      }

      @Override
      public void caCertificates(Path file) {
        nodes.caCertificates(file);
      }

      @Override
      public void clientCertificate(Path certificate, Path key) {
        nodes.clientCertificate(certificate, key);
      }
    };
  }
}
