package dev.lukko.redis.protocol;

import dev.lukko.redis.format.RedisKeyFormat;
import dev.lukko.release.OpenEntries;
import dev.lukko.release.OpenEntry;
import dev.lukko.spi.Capability;
import dev.lukko.spi.ConfirmReply;
import dev.lukko.spi.ExtendReply;
import dev.lukko.spi.FairTicket;
import dev.lukko.spi.FleetChange;
import dev.lukko.spi.FleetMemory;
import dev.lukko.spi.FleetRecord;
import dev.lukko.spi.GrantReply;
import dev.lukko.spi.GrantRequest;
import dev.lukko.spi.Inspection;
import dev.lukko.spi.LockEntry;
import dev.lukko.spi.LockNode;
import dev.lukko.spi.NodeFault;
import dev.lukko.spi.NodeStatus;
import dev.lukko.spi.ReleaseReply;
import dev.lukko.spi.Unknown;
import dev.lukko.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A lock node that speaks to a Redis server by scripts, whatever the driver.
 *
 * <p>Thread-safe. Stages complete in a thread of the driver.
 */
public final class ScriptedNode implements LockNode {
  /** Behind what was seen of a record, where there is nothing to wait for. */
  private static final String VOTING = " 0 " + FleetRecord.VOTING;

  /** Stands in a grant for a record that nobody has seen; no server has it. */
  private static final String NOTHING_SEEN = "-";

  /** So many keys are looked at in one step of the server: well below a millisecond. */
  private static final int KEYS_PER_PAGE = 500;

  private static final long CLOSE_MILLIS = 3_000;
  private static final long MAX_TTL_MILLIS = Duration.ofDays(36_500).toMillis();

  private final String name;
  private final RedisKeyFormat format;
  private final long retentionMillis;
  private final Link link;
  private final @Nullable ReleaseHints hints;
  private final Supplier<CompletableFuture<Void>> closeDriver;

  private final OpenEntries entries = new OpenEntries(Ticker.system());

  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * A node whose link has begun to connect.
   *
   * @param retention how long a counter is kept after the last grant or extension
   * @param hints gives hints about releases; null if there are none
   * @param closeDriver ends what the driver has besides its connections
   */
  public ScriptedNode(
      String name,
      RedisKeyFormat format,
      Duration retention,
      Link link,
      @Nullable ReleaseHints hints,
      Supplier<CompletableFuture<Void>> closeDriver) {
    this.name = name;
    this.format = format;
    this.retentionMillis = retention.toMillis();
    this.link = link;
    this.hints = hints;
    this.closeDriver = closeDriver;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Set<Capability> capabilities() {
    return hints != null
        ? EnumSet.allOf(Capability.class)
        : EnumSet.of(Capability.SHARED, Capability.FAIR);
  }

  @Override
  public CompletionStage<GrantReply> grant(GrantRequest request) {
    LockEntry entry = request.entry();
    ScriptCall call = grantCall(request);
    link.noteTtl(request.ttlMillis());
    if (hints != null && !hints.isIdle()) {
      entry.resources().forEach(resource -> hints.asking(format.channel(resource)));
    }
    OpenEntry open = entries.granting(entry, call, request.ttlMillis());
    return link.send(call)
        .handle(
            (list, error) -> {
              GrantReply reply =
                  replyOf(
                      list,
                      error,
                      sent -> Replies.grant(sent, call.keys(), statusOf(entry)),
                      fault -> fault);
              entries.granted(open, reply, request.ttlMillis());
              return reply;
            });
  }

  private ScriptCall grantCall(GrantRequest request) {
    LockEntry entry = request.entry();
    FairTicket ticket = request.ticket();
    String seen = entry.seen().isEmpty() ? NOTHING_SEEN : entry.seen();
    String ttl = Long.toString(storable(request.ttlMillis()));
    String proposal = Long.toString(request.proposal());
    String keep = Long.toString(keepMillis(request.ttlMillis()));
    if (isCommon(entry) && ticket == null) {
      return ScriptCall.onRecord(
          Script.GRANT,
          entry.owner(),
          format.records(),
          1,
          run -> seen + " " + run + VOTING,
          commonKeys(entry),
          entry.owner(),
          "", // for the record
          ttl,
          proposal,
          keep,
          FleetRecord.keyOf(seen));
    }
    List<String> keys = keys(entry);
    List<String> arguments = arguments(entry);
    arguments.addAll(List.of("", ttl, proposal, keep)); // the first for the record
    if (ticket != null) {
      entry.resources().forEach(resource -> keys.add(format.line(resource)));
      arguments.add(ticket.waiter());
      arguments.add(Long.toString(ticket.order()));
      arguments.add(Long.toString(ticket.leaseMillis()));
    }
    return ScriptCall.onRecord(
        Script.GRANT,
        entry.owner(),
        format.records(),
        3,
        run -> seen + " " + run,
        array(keys),
        array(arguments));
  }

  private BiFunction<String, Long, NodeStatus> statusOf(LockEntry entry) {
    String seen = entry.seen();
    return (record, millis) -> link.statusOf(FleetRecord.keyOf(seen), seen, record, millis);
  }

  /** Whether the scripts have a short form for it. */
  private static boolean isCommon(LockEntry entry) {
    return !entry.shared() && entry.resources().size() == 1;
  }

  private String[] commonKeys(LockEntry entry) {
    String resource = entry.resources().get(0);
    return new String[] {format.entry(resource), format.counter(resource)};
  }

  @Override
  public CompletionStage<ConfirmReply> confirm(LockEntry entry, long counter) {
    ScriptCall call =
        recordCall(Script.CONFIRM, entry, Long.toString(counter), Long.toString(retentionMillis));
    return reply(link.send(call), list -> Replies.confirm(list, statusOf(entry)), fault -> fault);
  }

  @Override
  public CompletionStage<ExtendReply> extend(LockEntry entry, long ttlMillis) {
    String ttl = Long.toString(storable(ttlMillis));
    String keep = Long.toString(keepMillis(ttlMillis));
    String seen = entry.seen();
    ScriptCall call;
    if (isCommon(entry)) {
      call =
          ScriptCall.onRecord(
              Script.EXTEND,
              entry.owner(),
              format.records(),
              3,
              run -> seen.isEmpty() ? "" : seen + " " + run + VOTING,
              commonKeys(entry),
              entry.owner(),
              ttl,
              keep,
              "", // for the record
              FleetRecord.keyOf(seen));
    } else {
      call = recordCall(Script.EXTEND, entry, ttl, keep);
    }
    link.noteTtl(ttlMillis);
    return reply(
        link.send(call),
        list -> {
          ExtendReply reply = Replies.extend(list, call.keys(), statusOf(entry));
          entries.extended(entry, reply, ttlMillis);
          return reply;
        },
        fault -> fault);
  }

  @Override
  public CompletionStage<ExtendReply> repair(
      LockEntry entry, long ttlMillis, long counter, long lastMillis) {
    ScriptCall call =
        recordCall(
            Script.REPAIR,
            entry,
            Long.toString(storable(ttlMillis)),
            Long.toString(keepMillis(ttlMillis)),
            Long.toString(counter),
            Long.toString(lastMillis));
    link.noteTtl(ttlMillis);
    OpenEntry open = entries.repairing(entry, call, ttlMillis);
    return reply(
        link.send(call),
        list -> {
          entries.repaired(open, ttlMillis);
          return Replies.extend(list, call.keys(), statusOf(entry));
        },
        fault -> fault);
  }

  @Override
  public CompletionStage<ReleaseReply> release(LockEntry entry) {
    ScriptCall call = releaseCall(entry).releasing(entries.releasing(entry));
    return reply(link.sendRelease(call), Replies::release, fault -> fault);
  }

  private ScriptCall releaseCall(LockEntry entry) {
    if (isCommon(entry)) {
      String resource = entry.resources().get(0);
      String[] key = {format.entry(resource)};
      return new ScriptCall(
          Script.RELEASE, entry.owner(), key, entry.owner(), format.channel(resource));
    }
    return call(Script.RELEASE, entry, channels(entry));
  }

  /** Sends it once and waits for nothing: a place that is not given up ends by its own lease. */
  @Override
  public void leave(LockEntry entry, FairTicket ticket) {
    String[] lines = entry.resources().stream().map(format::line).toArray(String[]::new);
    List<String> arguments = arguments(entry);
    arguments.add(ticket.waiter());
    arguments.addAll(List.of(channels(entry)));
    link.send(new ScriptCall(Script.LEAVE, entry.owner(), lines, array(arguments)));
  }

  @Override
  public CompletionStage<NodeStatus> status() {
    return link.status();
  }

  @Override
  public CompletionStage<NodeStatus> admit(NodeStatus seen, FleetChange change) {
    FleetMemory memory = seen.memory();
    String run = seen.identity().orElse("");
    if (memory == null) {
      return status();
    }
    FleetRecord record = change.record();
    boolean asWritten = change.quarantineMillis() == FleetChange.AS_WRITTEN;
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "",
                "",
                "0",
                record.key(),
                record.ofRun(),
                (asWritten ? record.fromMillis() + " " : "") + record.why(),
                Long.toString(change.quarantineMillis()),
                Integer.toString(memory.directory().size())));
    memory
        .directory()
        .forEach(
            (field, text) -> {
              arguments.add(field);
              arguments.add(text);
            });
    arguments.addAll(change.dropped());
    ScriptCall call =
        new ScriptCall(Script.ADMIT, "", new String[] {format.records()}, array(arguments));
    CompletableFuture<List<Object>> sent = link.sendTo(run, call);
    return sent == null
        ? status()
        : sent.handle((done, error) -> done).thenCompose(done -> status());
  }

  @Override
  public CompletionStage<Long> highestCounter() {
    return highestFrom(new Replies.Page("0", 0));
  }

  private CompletionStage<Long> highestFrom(Replies.Page before) {
    ScriptCall call =
        new ScriptCall(
            Script.HIGHEST,
            "",
            new String[0],
            "",
            "",
            "0",
            before.next(),
            format.counterPattern(),
            Integer.toString(KEYS_PER_PAGE));
    return link.send(call)
        .thenCompose(
            list -> {
              Replies.Page page = Replies.Page.of(list, before.highest());
              return page.isLast()
                  ? CompletableFuture.completedFuture(page.highest())
                  : highestFrom(page);
            });
  }

  @Override
  public CompletionStage<Inspection> inspect(String resource) {
    String[] keys = {format.entry(resource), format.counter(resource)};
    ScriptCall call = new ScriptCall(Script.INSPECT, "", keys, "", "", "1");
    return link.send(call).thenApply(list -> Replies.inspection(list, keys[0]));
  }

  @Override
  public Watch watch(String resource, Runnable hint) {
    return hints == null ? () -> {} : hints.watch(format.channel(resource), hint);
  }

  /** A request that is not for the short form, with what was seen of the record at its end. */
  private ScriptCall recordCall(Script script, LockEntry entry, String... rest) {
    List<String> arguments = arguments(entry);
    arguments.addAll(List.of(rest));
    arguments.add(""); // for the record
    String seen = entry.seen();
    return ScriptCall.onRecord(
        script,
        entry.owner(),
        format.records(),
        arguments.size() - 1,
        run -> seen.isEmpty() ? "" : seen + " " + run,
        array(keys(entry)),
        array(arguments));
  }

  private ScriptCall call(Script script, LockEntry entry, String... rest) {
    List<String> arguments = arguments(entry);
    arguments.addAll(List.of(rest));
    return new ScriptCall(script, entry.owner(), array(keys(entry)), array(arguments));
  }

  private List<String> keys(LockEntry entry) {
    List<String> keys = new ArrayList<>(3 * entry.resources().size());
    entry.resources().forEach(resource -> keys.add(format.entry(resource)));
    entry.resources().forEach(resource -> keys.add(format.counter(resource)));
    return keys;
  }

  /** What every script gets. */
  private static List<String> arguments(LockEntry entry) {
    List<String> arguments = new ArrayList<>(10);
    arguments.add(entry.owner());
    arguments.add(entry.shared() ? "shared" : "exclusive");
    arguments.add(Integer.toString(entry.resources().size()));
    return arguments;
  }

  private String[] channels(LockEntry entry) {
    return entry.resources().stream().map(format::channel).toArray(String[]::new);
  }

  private static String[] array(List<String> list) {
    return list.toArray(String[]::new);
  }

  /** A counter outlives its entry in any case. */
  private long keepMillis(long ttlMillis) {
    return Math.max(retentionMillis, storable(ttlMillis));
  }

  /** A server refuses times whose end it cannot count. */
  private static long storable(long ttlMillis) {
    return Math.min(ttlMillis, MAX_TTL_MILLIS);
  }

  private static <T> CompletionStage<T> reply(
      CompletableFuture<List<Object>> sent,
      Function<List<Object>, T> read,
      Function<NodeFault, T> fail) {
    return sent.handle((list, error) -> replyOf(list, error, read, fail));
  }

  private static <T> T replyOf(
      @Nullable List<Object> list,
      @Nullable Throwable error,
      Function<List<Object>, T> read,
      Function<NodeFault, T> fail) {
    if (list == null) {
      return fail.apply(
          Faults.ofRequest(error == null ? new IllegalStateException("no reply") : error));
    }
    try {
      return read.apply(list);
    } catch (RuntimeException garbage) {
      return fail.apply(new Unknown("the reply cannot be read: " + garbage, garbage));
    }
  }

  /**
   * Sends one request the whole way that finds nothing and changes nothing: the release of an owner
   * that holds nothing, at a key that every user of locks may read and that is never there.
   */
  public CompletableFuture<Void> warmUp() {
    String[] key = {format.records() + ":none"};
    ScriptCall call = new ScriptCall(Script.RELEASE, "", key, "nobody", format.channel("nobody"));
    CompletableFuture<Void> answered = new CompletableFuture<>();
    var unused = link.send(call).whenComplete((list, error) -> answered.complete(null));
    return answered;
  }

  /** Ends the connections; completes when the driver has ended too. Gives null the second time. */
  public @Nullable CompletableFuture<Void> end() {
    if (!closed.compareAndSet(false, true)) {
      return null;
    }
    return CompletableFuture.allOf(
            link.close(), hints == null ? CompletableFuture.completedFuture(null) : hints.close())
        .exceptionally(error -> null)
        .thenCompose(done -> closeDriver.get());
  }

  /** Ends the node as {@link #end} does, and waits up to 3 s for it. */
  @Override
  public void close() {
    CompletableFuture<Void> ended = end();
    if (ended == null) {
      return;
    }
    try {
      ended.get(CLOSE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      System.getLogger(ScriptedNode.class.getName())
          .log(System.Logger.Level.WARNING, "the driver of " + name + " did not close in time", e);
    }
  }

  /** The name, and whether the node is connected. */
  @Override
  public String toString() {
    return name + (link.isConnected() ? "" : ", not connected");
  }
}
