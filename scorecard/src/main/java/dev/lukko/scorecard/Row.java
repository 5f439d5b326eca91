package dev.lukko.scorecard;

/**
 * A fault, and what is expected.
 *
 * @param number its number in the card
 * @param title what happens
 * @param expected what counts as held
 * @param scenario makes it happen
 */
record Row(int number, String title, String expected, Scenario scenario) {

  /** Runs on a new bed, and says what was seen. */
  interface Scenario {
    Finding run(Bed bed) throws InterruptedException;
  }
}
