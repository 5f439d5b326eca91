package dev.lukko.scorecard;

import java.util.List;

/** The rows of the card, in order. */
final class Rows {
  static final List<Row> ALL =
      List.of(
          new Row(1, "two clients, no fault", "the second is refused", HolderRows::twoClients),
          new Row(
              2,
              "two threads of one process, no fault",
              "the second thread is refused",
              HolderRows::twoThreads),
          new Row(
              3,
              "two of five servers killed",
              "granted",
              bed -> ServerRows.minorityGone(bed, bed::kill)),
          new Row(
              4,
              "two of five servers hang",
              "granted",
              bed -> ServerRows.minorityGone(bed, bed::hang)),
          new Row(
              5,
              "most servers killed (the only one, three of five)",
              "not granted, and the call ends within 30 s",
              bed -> ServerRows.majorityGone(bed, bed::kill)),
          new Row(
              6,
              "most servers hang (the only one, three of five)",
              "not granted, and the call ends within 30 s",
              bed -> ServerRows.majorityGone(bed, bed::hang)),
          new Row(
              7,
              "holder killed",
              "free after the ttl of 2 s, and 1 s more at most",
              HolderRows::holderKilled),
          new Row(
              8,
              "holder paused past its ttl, another has the lock, then asked whether it holds",
              "it says that it does not",
              HolderRows::pausedHolderAsked),
          new Row(
              9,
              "holder paused past its ttl, another writes, then the first writes",
              "its token tells the resource to refuse",
              HolderRows::pausedHolderWrites),
          new Row(
              10,
              "holder paused past its ttl, another has the lock, then the first unlocks",
              "the lock of the other stays",
              HolderRows::pausedHolderUnlocks),
          new Row(
              11,
              "server loses its data (FLUSHALL) while the lock is held (the only one; one of the"
                  + " three that the holder has)",
              "nobody else is granted the lock",
              ServerRows::memoryLost),
          new Row(
              12,
              "clock of a server jumps 4 s ahead while the lock is held (the only one, one of"
                  + " five)",
              "nobody else is granted the lock",
              ServerRows::clockJumps),
          new Row(
              13,
              "grant done at the servers, reply lost and connection reset (the only one, three of"
                  + " five)",
              "held by the caller, or free after the ttl of 2 s and 1 s more at most",
              ServerRows::replyLost),
          new Row(
              14,
              "all servers hang while the lock is held",
              "the holder can know within the ttl of 2 s",
              ServerRows::holderLearns),
          new Row(
              15,
              "a waiter's connections are reset just before the lock is released",
              "it has the lock within the ttl of 2 s and 1 s more",
              ServerRows::wakeUpLost));

  private Rows() {}
}
