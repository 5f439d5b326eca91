package dev.lukko.bench.soak;

/** What guards the set. All but the first are there to show that the check can fail. */
enum SoakMode {
  /** The lock, and a fence at the set. */
  FENCED("lock and fence"),
  /** The lock alone: a holder that was paused past its lease writes all the same. */
  WITHOUT_FENCE("lock without fence"),
  /** Nothing. */
  WITHOUT_LOCK("neither lock nor fence");

  private final String words;

  SoakMode(String words) {
    this.words = words;
  }

  String words() {
    return words;
  }
}
