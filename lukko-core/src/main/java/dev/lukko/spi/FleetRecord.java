package dev.lukko.spi;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a server keeps about one fleet: the set of nodes that decide by majority, and this server's
 * place in it. Whether a server may vote is a statement about a fleet, so a server that is used by
 * several has a record for each.
 *
 * <p>Its text is one line, {@code fleet founded epoch members floor self run from why}; a request
 * carries all of it but the last three words as what its client has {@linkplain #seen() seen}, and
 * a node grants nothing if that is not what it has, or if its present run is another one.
 *
 * <p>While the set of nodes changes, the record has two of them, written {@code members>next}: then
 * a majority of both is needed for whatever a majority is needed for.
 *
 * @param fleet the fleet's name, or {@code #} and a number that was made from its first members
 * @param founded how many nodes it was founded with; its record is kept apart from one of the same
 *     name that was founded with another number, and stays there whatever its size becomes
 * @param epoch rises whenever a member is replaced, and with each step of a change of the set
 * @param set the nodes; fewer than all are known if some could not be reached when it was founded
 * @param next the nodes that the set changes to; null if it does not change
 * @param floor what every number that is given in this epoch lies above: the highest of what was
 *     given by an earlier set of nodes; zero if the set has never changed
 * @param self this server's own id in the fleet
 * @param run the id of the run of the server that the record was made for
 * @param fromMillis from when on the server votes, by its own clock; zero if there is nothing to
 *     wait for
 * @param why what the server was when the record was made: {@code unmarked}, {@code restarted}, or
 *     {@code voting} if there is nothing to wait for
 */
public record FleetRecord(
    String fleet,
    int founded,
    long epoch,
    NodeSet set,
    @Nullable NodeSet next,
    long floor,
    String self,
    String run,
    long fromMillis,
    String why) {

  /** {@link #why} if there is nothing to wait for. */
  public static final String VOTING = "voting";

  /** {@link #why} of a server that was restarted with what it had stored. */
  public static final String RESTARTED = "restarted";

  /** {@link #why} of a server that had no record. */
  public static final String UNMARKED = "unmarked";

  private static final String ID = "[0-9a-f]{12}";
  private static final Pattern NAME = Pattern.compile("#?[A-Za-z0-9][A-Za-z0-9._-]{0,39}");
  private static final Pattern RUN_OF_REDIS = Pattern.compile("[0-9a-f]{40}");
  private static final String IDS = ID + "(?:," + ID + ")*(?:/\\d{1,4})?";
  private static final Pattern FLOOR = Pattern.compile("\\d{1,16}");
  private static final Pattern FORM =
      Pattern.compile(
          "(\\S+) (\\d{1,4}) (\\d{1,15}) ("
              + IDS
              + ")(?:>("
              + IDS
              + "))? (\\d{1,16}) ("
              + ID
              + ") ("
              + ID
              + ") (\\d{1,16}) ([a-z]{1,16})");

  public FleetRecord {
    if (!fleet.startsWith("#")) {
      checkedName(fleet);
    }
  }

  /** A record of a fleet whose set of nodes has never changed. */
  public FleetRecord(
      String fleet,
      int size,
      long epoch,
      List<String> members,
      String self,
      String run,
      long fromMillis,
      String why) {
    this(fleet, size, epoch, new NodeSet(members, size), null, 0, self, run, fromMillis, why);
  }

  /**
   * The name of a fleet as somebody gives it.
   *
   * @throws IllegalArgumentException if it is none
   */
  public static String checkedName(String name) {
    if (!NAME.matcher(name).matches() || name.startsWith("#")) {
      throw new IllegalArgumentException(
          "fleet is \""
              + name
              + "\"; it must have 1 to 40 letters, digits, dots, dashes and"
              + " underscores, and begin with a letter or a digit");
    }
    return name;
  }

  /** Reads a record; empty if the text is none. */
  public static Optional<FleetRecord> parse(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches() || !NAME.matcher(matcher.group(1)).matches()) {
      return Optional.empty();
    }
    NodeSet set = NodeSet.parse(matcher.group(4)).orElse(null);
    String nextText = matcher.group(5);
    NodeSet next = nextText == null ? null : NodeSet.parse(nextText).orElse(null);
    return set == null || (nextText != null && next == null)
        ? Optional.empty()
        : Optional.of(
            new FleetRecord(
                matcher.group(1),
                Integer.parseInt(matcher.group(2)),
                Long.parseLong(matcher.group(3)),
                set,
                next,
                Long.parseLong(matcher.group(6)),
                matcher.group(7),
                matcher.group(8),
                Long.parseLong(matcher.group(9)),
                matcher.group(10)));
  }

  /** A short id, made from an identity of any form; equal for equal ones. */
  public static String idOf(String identity) {
    if (RUN_OF_REDIS.matcher(identity).matches()) {
      return identity.substring(0, 12); // As the server shows it.
    }
    return digest(identity);
  }

  /** Twelve hexadecimal digits that stand for a text. */
  static String digest(String text) {
    try {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
      return HexFormat.of().formatHex(digest, 0, 6);
    } catch (NoSuchAlgorithmException missing) {
      throw new IllegalStateException("every Java platform has SHA-256", missing);
    }
  }

  /** The name of a fleet that was given none, made from the ids of its first members. */
  public static String nameOf(int size, List<String> members) {
    return "#" + digest(size + " " + String.join(",", new TreeSet<>(members)));
  }

  /** Whether the fleet was given no name. */
  public boolean isUnnamed() {
    return fleet.startsWith("#");
  }

  /** Under which key a server keeps the record: its first two words. */
  public String key() {
    return key(fleet, founded);
  }

  /** Under which key a server keeps the record of a fleet that was founded with so many nodes. */
  public static String key(String fleet, int founded) {
    return fleet + " " + founded;
  }

  /** Under which key a server keeps the record of which this was seen; all of it if it is none. */
  public static String keyOf(String seen) {
    int second = seen.indexOf(' ', seen.indexOf(' ') + 1);
    return second < 0 ? seen : seen.substring(0, second);
  }

  /** What a client has seen of it that must still be so when the server votes. */
  public String seen() {
    return ofAll() + self;
  }

  /** What is seen of it, and the run that it was made for. */
  public String ofRun() {
    return seen() + " " + run;
  }

  /** The beginning of its text, which all members have in common. */
  public String ofAll() {
    String sets = set.text() + (next == null ? "" : ">" + next.text());
    return key() + " " + epoch + " " + sets + " " + floor + " ";
  }

  /** The whole text. */
  public String text() {
    return ofRun() + " " + fromMillis + " " + why;
  }

  /**
   * The floor in what was {@linkplain #seen seen} of a record, which a number must lie above that a
   * reader is given as it is; zero if it is no such text.
   */
  public static long floorOf(String seen) {
    String[] words = seen.split(" ", -1);
    return words.length == 6 && FLOOR.matcher(words[4]).matches() ? Long.parseLong(words[4]) : 0;
  }

  /** The ids of the nodes that are known, sorted. */
  public List<String> members() {
    return set.ids();
  }

  /** How many nodes it has. */
  public int size() {
    return set.size();
  }

  /** Whether its set of nodes is changing. */
  public boolean isJoint() {
    return next != null;
  }

  /** Whether this is the id of a node, or of one that is to be one. */
  public boolean has(String id) {
    return set.contains(id) || (next != null && next.contains(id));
  }

  /** Whether its server is a node, or is to be one; otherwise it was one before a change. */
  public boolean isMember() {
    return has(self);
  }

  /**
   * Whether its server votes again only when the counters of a majority have been read, see {@link
   * FleetChange#UNTIL_READ_MILLIS}.
   *
   * @param nowMillis the time of the server's clock
   */
  public boolean isUnread(long nowMillis) {
    return fromMillis - nowMillis > FleetChange.UNTIL_READ_MILLIS / 2;
  }

  /** The same of another server: its id, its run, and when it votes. */
  public FleetRecord of(String otherSelf, String otherRun, long otherFrom, String otherWhy) {
    return new FleetRecord(
        fleet, founded, epoch, set, next, floor, otherSelf, otherRun, otherFrom, otherWhy);
  }

  /** The same in another epoch, with the sets and the floor of that. */
  public FleetRecord in(
      long otherEpoch, NodeSet otherSet, @Nullable NodeSet otherNext, long otherFloor) {
    return new FleetRecord(
        fleet, founded, otherEpoch, otherSet, otherNext, otherFloor, self, run, fromMillis, why);
  }

  /** The fleet in words. */
  public String describe() {
    return "fleet "
        + fleet
        + " of "
        + nodes(size())
        + (next == null ? "" : ", changing to " + nodes(next.size()));
  }

  private static String nodes(int size) {
    return size + (size == 1 ? " node" : " nodes");
  }
}
