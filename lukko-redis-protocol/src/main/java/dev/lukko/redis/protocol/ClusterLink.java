package dev.lukko.redis.protocol;

import dev.lukko.redis.format.HashSlots;
import dev.lukko.redis.protocol.RedisAddress.Place;
import dev.lukko.release.PendingRelease;
import dev.lukko.spi.Failed;
import dev.lukko.spi.NodeStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * The way to a Redis Cluster as one node: a link to each master that is needed.
 *
 * <p>Which server has a slot is learnt from the servers' own words: one that does not have it names
 * the one that does, and has applied nothing. So a request goes on to that one. A grant does not if
 * its owner has released meanwhile, as with a script whose text the server asks for.
 */
public final class ClusterLink implements Link, RedisLink.Cluster {
  private static final int MAX_REDIRECTS = 4;

  private final Links maker;
  private final List<Place> seeds;
  private final ConcurrentMap<Place, RedisLink> links = new ConcurrentHashMap<>();
  private final AtomicReferenceArray<@Nullable Place> owners =
      new AtomicReferenceArray<>(HashSlots.SLOTS);
  private final CompletableFuture<Void> firstTry = new CompletableFuture<>();
  private volatile long shortestTtlMillis = Long.MAX_VALUE;
  private volatile boolean closed;

  /** Makes the link to one server, and begins to connect it. */
  public interface Links {
    RedisLink connect(Place place, RedisLink.Cluster cluster);
  }

  private interface Sending
      extends BiFunction<RedisLink, ScriptCall, CompletableFuture<List<Object>>> {}

  public ClusterLink(Links maker, List<Place> seeds) {
    this.maker = maker;
    this.seeds = List.copyOf(seeds);
  }

  /** Begins to connect to the servers that are known. */
  public void connect() {
    List<CompletableFuture<Void>> tries = new ArrayList<>();
    for (Place seed : seeds) {
      RedisLink link = linkTo(seed);
      tries.add(
          link.firstTry()
              .thenRun(
                  () -> {
                    if (link.isConnected()) {
                      firstTry.complete(null);
                    }
                  }));
    }
    var unused =
        CompletableFuture.allOf(tries.toArray(new CompletableFuture<?>[0]))
            .thenRun(() -> firstTry.complete(null));
  }

  private RedisLink linkTo(Place place) {
    RedisLink link = links.computeIfAbsent(place, unseen -> maker.connect(unseen, this));
    link.noteTtl(shortestTtlMillis);
    if (closed) {
      var unused = link.close();
    }
    return link;
  }

  /** All servers that are known, those that were given first. */
  public List<Place> places() {
    List<Place> places = new ArrayList<>(seeds);
    links.keySet().stream().filter(place -> !seeds.contains(place)).forEach(places::add);
    return places;
  }

  @Override
  public CompletableFuture<List<Object>> send(ScriptCall call) {
    return route(call, RedisLink::send);
  }

  @Override
  public CompletableFuture<List<Object>> sendRelease(ScriptCall call) {
    return route(call, RedisLink::sendRelease);
  }

  private CompletableFuture<List<Object>> route(ScriptCall call, Sending sending) {
    String[] keys = call.keys();
    int slot = HashSlots.ofKey(keys[0]);
    for (String key : keys) {
      if (HashSlots.ofKey(key) != slot) {
        return failed(
            "CROSSSLOT: the keys "
                + keys[0]
                + " and "
                + key
                + " belong to different slots of the cluster; the names of resources that are"
                + " locked together must begin with the same {tag}");
      }
    }
    Place place = placeFor(slot);
    return send(call, slot, place, sending, MAX_REDIRECTS);
  }

  /** The server that has the slot if it can be asked, else one that can say which has. */
  private Place placeFor(int slot) {
    Place owner = owners.get(slot);
    if (owner != null && linkTo(owner).isConnected()) {
      return owner;
    }
    for (Place place : places()) {
      RedisLink link = links.get(place);
      if (link != null && link.isConnected()) {
        return place;
      }
    }
    return owner != null ? owner : seeds.get(0);
  }

  private CompletableFuture<List<Object>> send(
      ScriptCall call, int slot, Place place, Sending sending, int redirects) {
    return sending
        .apply(linkTo(place), call)
        .handle(
            (reply, error) -> {
              if (error == null) {
                owners.set(slot, place);
                return CompletableFuture.completedFuture(reply);
              }
              Place owner = Redirect.of(error, place);
              if (owner == null || redirects == 0) {
                return CompletableFuture.<List<Object>>failedFuture(error);
              }
              owners.set(slot, owner);
              return linkTo(owner)
                  .firstTry()
                  .thenCompose(tried -> sendOn(call, slot, owner, sending, redirects - 1));
            })
        .thenCompose(result -> result);
  }

  private CompletableFuture<List<Object>> sendOn(
      ScriptCall call, int slot, Place place, Sending sending, int redirects) {
    AtomicReference<@Nullable CompletableFuture<List<Object>>> sent = new AtomicReference<>();
    call.sendUnlessWithdrawn(() -> sent.set(send(call, slot, place, sending, redirects)));
    CompletableFuture<List<Object>> reply = sent.get();
    return reply != null
        ? reply
        : failed(
            Failed.WITHDRAWN
                + ": not sent on to "
                + place
                + ", since its owner has released meanwhile");
  }

  private static CompletableFuture<List<Object>> failed(String detail) {
    return CompletableFuture.failedFuture(new NodeFaultException(new Failed(detail)));
  }

  /** A release that its server cannot deal with any more goes to the one that has its slot now. */
  @Override
  public void onMisplaced(ScriptCall release) {
    if (!closed) {
      var unused = sendRelease(release);
    }
  }

  @Override
  public void onReplica(Place master) {
    if (!closed) {
      linkTo(master);
    }
  }

  /**
   * A server that was given is tried for ever. One that was only named by others is forgotten; if
   * it comes back, they name it again.
   */
  @Override
  public void onLongOutage(RedisLink link) {
    for (Map.Entry<Place, RedisLink> known : links.entrySet()) {
      Place place = known.getKey();
      if (known.getValue() == link && !seeds.contains(place) && links.remove(place, link)) {
        for (int slot = 0; slot < HashSlots.SLOTS; slot++) {
          Place owner = owners.get(slot);
          if (place.equals(owner)) {
            owners.compareAndSet(slot, owner, null);
          }
        }
        List<PendingRelease<ScriptCall>> left = link.takeReleases();
        var unused = link.close();
        left.forEach(release -> onMisplaced(release.request()));
      }
    }
  }

  /** A cluster keeps no records, hence no admission. */
  @Override
  public @Nullable CompletableFuture<List<Object>> sendTo(String run, ScriptCall call) {
    return null;
  }

  @Override
  public void noteTtl(long ttlMillis) {
    if (ttlMillis < shortestTtlMillis) {
      shortestTtlMillis = ttlMillis; // a longer one that wins a race is set right by the next
      links.values().forEach(link -> link.noteTtl(ttlMillis));
    }
  }

  @Override
  public CompletableFuture<NodeStatus> status() {
    return any()
        .status()
        .thenApply(
            status ->
                status.identity().isEmpty()
                        || status.state() == NodeStatus.State.UNFIT
                        || status.traits().contains(NodeStatus.Trait.CLUSTER_MEMBER)
                    ? status
                    : new NodeStatus(
                        NodeStatus.State.UNFIT,
                        status.identity(),
                        "it belongs to no cluster; write redis:// rather than redis-cluster://",
                        Duration.ZERO,
                        status.warnings(),
                        Set.of()));
  }

  @Override
  public NodeStatus statusOf(String key, String seen, String record, long serverMillis) {
    return any().statusOf(key, seen, record, serverMillis);
  }

  private RedisLink any() {
    RedisLink first = linkTo(seeds.get(0));
    return first.isConnected()
        ? first
        : links.values().stream().filter(RedisLink::isConnected).findFirst().orElse(first);
  }

  @Override
  public boolean isConnected() {
    return links.values().stream().anyMatch(RedisLink::isConnected);
  }

  @Override
  public CompletableFuture<Void> firstTry() {
    return firstTry;
  }

  @Override
  public CompletableFuture<Void> close() {
    closed = true;
    return CompletableFuture.allOf(
        links.values().stream().map(RedisLink::close).toArray(CompletableFuture<?>[]::new));
  }
}
