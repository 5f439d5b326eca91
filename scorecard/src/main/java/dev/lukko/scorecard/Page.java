package dev.lukko.scorecard;

import java.time.LocalDate;
import java.time.ZoneOffset;

/** The card as a page of the docs. */
final class Page {
  private Page() {}

  static String of(Card card) {
    StringBuilder page = new StringBuilder();
    page.append(
        """
        # Scorecard

        The same faults for several lock libraries, each used as its own documentation says, on real servers and
        with client processes that are paused and killed. Generated on %s by

        ```sh
        ./lukko-bench scorecard --markdown docs/internals/scorecard.md
        ```

        **held**: the expected outcome was seen. **broken**: it was not. **n/a**: the library has no such thing, or
        the row needs what it does not use. Every row has servers and clients of its own, three libraries at a time;
        one run, so that times are single observations on a shared machine. All libraries have a ttl of 2 s, so that
        rows are short; rows try once instead of waiting, unless they say that they wait.

        """
            .formatted(LocalDate.now(ZoneOffset.UTC)));
    libraries(card, page);
    overview(card, page);
    details(card, page);
    page.append(
        """
        ## How it is done

        - A client is a process with one library behind a few words on its input and output: lock, unlock, "do you
          hold it". Paused is SIGSTOP, killed SIGKILL, for servers too. The database of the SQL row is cut off (its
          connections reset and refused) or held (nothing passes) by a proxy instead.
        - Servers are Redis 7.0.15; the one whose clock is set is 6.2, which takes a preloaded clock.
        - In row 11 five servers are not alike: the holder could reach three of them when it took the lock, and has
          its connections to the other two cut.
        - In row 13 the reply that is lost is that of the first request which names the lock. For the database that is
          a statement before its commit.
        - redlock4j (`org.codarama:redlock4j`) is not in the card: no version of it was served by Maven Central on
          the day of the run.
        """);
    return page.toString();
  }

  private static void libraries(Card card, StringBuilder page) {
    page.append("| library | version | used as |\n|---|---|---|\n");
    for (Library library : card.libraries()) {
      page.append("| ")
          .append(library.title())
          .append(" | ")
          .append(Versions.of(library))
          .append(" | ")
          .append(library.configuration())
          .append(" |\n");
    }
    page.append("\nBelow them: ").append(Versions.below()).append(".\n\n");
  }

  private static void overview(Card card, StringBuilder page) {
    page.append("## Overview\n\n| row |");
    card.libraries().forEach(library -> page.append(' ').append(library.title()).append(" |"));
    page.append("\n|---|").append("---|".repeat(card.libraries().size())).append('\n');
    for (Row row : card.rows()) {
      page.append("| ").append(row.number()).append(". ").append(row.title()).append(" |");
      for (Library library : card.libraries()) {
        page.append(' ').append(card.finding(row, library).verdict().words()).append(" |");
      }
      page.append('\n');
    }
    page.append('\n');
  }

  private static void details(Card card, StringBuilder page) {
    page.append("## Row by row\n\n");
    for (Row row : card.rows()) {
      page.append("**")
          .append(row.number())
          .append(". ")
          .append(row.title())
          .append("**; expected: ")
          .append(row.expected())
          .append(".\n\n| library | | seen |\n|---|---|---|\n");
      for (Library library : card.libraries()) {
        Finding finding = card.finding(row, library);
        page.append("| ")
            .append(library.title())
            .append(" | ")
            .append(finding.verdict().words())
            .append(" | ")
            .append(finding.fact())
            .append(" |\n");
      }
      page.append('\n');
    }
  }
}
