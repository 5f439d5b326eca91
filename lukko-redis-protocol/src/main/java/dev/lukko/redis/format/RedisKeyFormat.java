package dev.lukko.redis.format;

/**
 * How the keys of a resource are named at the server. All clients of a lock must use the same
 * format.
 *
 * <p>Whatever braces a name contains: the keys of one resource belong to one slot of a cluster, and
 * two resources never share a key.
 */
public enum RedisKeyFormat {
  /**
   * {@code lukko:{resource}} for the entry, {@code lukko:{resource}:token} for the counter, {@code
   * lukko:{resource}:line} for fair waiters, {@code lukko:{resource}:released} for the channel of
   * releases. A name that begins with a closing brace or a backslash is preceded by a backslash.
   * The server's records of its fleets are at {@code lukko:fleets} with a control character (code
   * 1) before its last word, which no resource can contain.
   */
  PREFIXED {
    @Override
    public String entry(String resource) {
      // "lukko:{}..." would have an empty tag, which counts as none.
      boolean escaped = resource.startsWith("}") || resource.startsWith("\\");
      return "lukko:{" + (escaped ? "\\" : "") + resource + "}";
    }

    @Override
    String beside(String resource, String what) {
      return entry(resource) + ":" + what;
    }

    @Override
    public String counterPattern() {
      return "lukko:{*}:token";
    }

    @Override
    public String records() {
      return "lukko:\u0001fleets";
    }
  },

  /**
   * The resource itself for the entry, as libraries for Redlock in other languages name it, so that
   * they and this one exclude each other. The counter, the line and the channel are named {@code
   * lukko:token:{tag}:resource}, {@code lukko:line:{tag}:resource} and {@code
   * lukko:released:{tag}:resource}, the server's records {@code lukko:fleets}, all with a control
   * character (code 1) behind {@code lukko}, which no resource can contain.
   */
  PLAIN {
    @Override
    public String entry(String resource) {
      return resource;
    }

    @Override
    String beside(String resource, String what) {
      return "lukko\u0001:" + what + ":{" + HashSlots.tagFor(resource) + "}:" + resource;
    }

    @Override
    public String counterPattern() {
      return "lukko\u0001:token:*";
    }

    @Override
    public String records() {
      return "lukko\u0001:fleets";
    }
  };

  /** The key of the entry. */
  public abstract String entry(String resource);

  /** The key of something that is kept for the resource apart from the entry. */
  abstract String beside(String resource, String what);

  /** The key of the records of the server's fleets, which are apart for each format. */
  public abstract String records();

  /** What the keys of all counters match, and nothing else of Lukko's does. */
  public abstract String counterPattern();

  public String line(String resource) {
    return beside(resource, "line");
  }

  public String counter(String resource) {
    return beside(resource, "token");
  }

  public String channel(String resource) {
    return beside(resource, "released");
  }
}
