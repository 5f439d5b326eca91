package dev.lukko.compat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The table of CONTRIBUTING.md: which module may depend on which. */
final class ModuleTable {
  private static final Path PAGE =
      Path.of("").toAbsolutePath().getParent().resolve("CONTRIBUTING.md");
  private static final Pattern ROW =
      Pattern.compile("\\| `([\\w-]+)`[^|]*\\|[^|]*\\|[^|]*\\|([^|]*)\\|");

  private final Map<String, String> rows = new HashMap<>();

  static ModuleTable read() throws IOException {
    ModuleTable table = new ModuleTable();
    for (String line : Files.readAllLines(PAGE)) {
      Matcher row = ROW.matcher(line);
      if (row.matches()) {
        table.rows.put(row.group(1), row.group(2).strip());
      }
    }
    return table;
  }

  Set<String> folders() {
    return Set.copyOf(rows.keySet());
  }

  /**
   * The folders of the modules that a module may depend on; the table calls them by their names, or
   * by the last word of these.
   *
   * @throws IllegalStateException if the table does not say it
   */
  Set<String> allowedTo(String folder) {
    String said = rows.get(folder);
    if (said == null) {
      throw new IllegalStateException("CONTRIBUTING.md has no row for " + folder);
    }
    if (said.equals("all")) {
      return folders();
    }
    Set<String> allowed = new HashSet<>();
    for (String name : said.replace("`", "").split(", ")) {
      if (name.equals("nothing") || name.startsWith("dev.lukko.")) { // its own packages
        continue;
      }
      allowed.add(
          folders().stream()
              .filter(each -> each.equals(name) || each.endsWith("-" + name))
              .findFirst()
              .orElseThrow(
                  () ->
                      new IllegalStateException(
                          "CONTRIBUTING.md: "
                              + folder
                              + " may depend on "
                              + name
                              + ", which is no"
                              + " module")));
    }
    return allowed;
  }
}
