package dev.lukko.bench.soak;

/**
 * The set as one client sees it: pages of lines {@code id@token}, each read, changed and written as
 * a whole.
 *
 * <p>An addition whose outcome is unknown is tried again from the page at which it began. Reading a
 * fenced page raises its fence, so what is still on its way there is refused afterwards, and the
 * second try cannot double it.
 */
final class PagedSet {
  private static final int LINES_PER_PAGE = 150;

  private final Pages pages;
  private int page;

  PagedSet(Pages pages) {
    this.pages = pages;
  }

  /** The page at which an addition begins that is tried for the first time. */
  int page() {
    return page;
  }

  /**
   * Adds something that is not there yet.
   *
   * @param from the page at which its first try began
   * @param thinking runs between the read and the write
   * @return false if an earlier try has added it already
   */
  boolean add(String id, int from, long token, Runnable thinking) {
    for (int at = from; ; at++) {
      String content = pages.read(at, token);
      page = Math.max(page, at);
      if (content.contains("\n" + id + "@")) {
        return false;
      }
      if (content.chars().filter(c -> c == '\n').count() < LINES_PER_PAGE) {
        thinking.run();
        pages.write(at, content + "\n" + id + "@" + token, token);
        return true;
      }
    }
  }
}
