package dev.lukko.testkit.sim;

/** What a message asks of a node, and the moments of its way. */
enum Verb {
  GRANT(Hook.GRANT_SENT, Hook.GRANT_APPLIED, Hook.GRANT_REPLIED),
  CONFIRM(Hook.CONFIRM_SENT, Hook.CONFIRM_APPLIED, Hook.CONFIRM_REPLIED),
  EXTEND(Hook.EXTEND_SENT, Hook.EXTEND_APPLIED, Hook.EXTEND_REPLIED),
  REPAIR(Hook.REPAIR_SENT, Hook.REPAIR_APPLIED, Hook.REPAIR_REPLIED),
  RELEASE(Hook.RELEASE_SENT, Hook.RELEASE_APPLIED, Hook.RELEASE_REPLIED),
  OTHER(Hook.OTHER_SENT, Hook.OTHER_APPLIED, Hook.OTHER_REPLIED);

  final Hook sent;
  final Hook applied;
  final Hook replied;

  Verb(Hook sent, Hook applied, Hook replied) {
    this.sent = sent;
    this.applied = applied;
    this.replied = replied;
  }
}
