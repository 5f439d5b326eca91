package dev.lukko.compat;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.postgres.PostgresSchema;
import dev.lukko.testkit.RedisServer;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Applications that have a {@code module-info} and nothing on the class path: compiled, and run in
 * a process of their own, with one artifact, what it brings, and nothing else.
 */
class ModulePathTest {
  private static final String REDIS_PROTOCOL = "lukko-redis-protocol";
  private static final String LOCKS =
      """
      try (var locks = dev.lukko.redlock.Redlock.over(%s)) {
        var lease = locks.acquire("job", java.time.Duration.ofSeconds(30));
        System.out.print(lease.isValid() + " " + lease.release().status());
      }
      """;

  @TempDir Path folder;

  @Test
  void core() throws Exception {
    assertRuns("dev.lukko", LOCKS.formatted("new dev.lukko.memory.InMemoryNode(\"memory\")"));
  }

  @Test
  void redis() throws Exception {
    try (RedisServer server = RedisServer.start()) {
      assertRuns(
          "dev.lukko.redis",
          LOCKS.formatted("dev.lukko.redis.RedisNode.connect(\"" + server.url() + "\")"),
          "lukko-redis",
          REDIS_PROTOCOL,
          "lettuce-core",
          "redis-authx-core",
          "netty-.*",
          "reactor-core",
          "reactive-streams");
    }
  }

  @Test
  void jedis() throws Exception {
    try (RedisServer server = RedisServer.start()) {
      assertRuns(
          "dev.lukko.jedis",
          LOCKS.formatted("dev.lukko.jedis.JedisNode.connect(\"" + server.url() + "\")"),
          "lukko-jedis",
          REDIS_PROTOCOL,
          "jedis",
          "redis-authx-core",
          "commons-pool2",
          "slf4j-api",
          "gson",
          "error_prone_annotations",
          "json");
    }
  }

  @Test
  void jdbc() throws Exception {
    assertRuns(
        "dev.lukko.jdbc",
        LOCKS.formatted(
            "dev.lukko.jdbc.JdbcNode.builder(\"jdbc:h2:mem:locks;DB_CLOSE_DELAY=-1\")"
                + ".createSchema(true).build()"),
        "lukko-jdbc",
        "h2");
  }

  @Test
  void postgres() throws Exception {
    try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
      PostgresSchema.standard().create(server.getPostgresDatabase());
      assertRuns(
          "dev.lukko.postgres",
          """
          try (var locks =
              dev.lukko.postgres.PostgresAdvisoryLocks.connect("%s", "postgres", "postgres")) {
            var lease = locks.acquire("job", java.time.Duration.ofSeconds(30));
            System.out.print(lease.isValid() + " " + lease.release().status());
          }
          """
              .formatted(server.getJdbcUrl("postgres", "postgres")),
          "lukko-postgres",
          "postgresql");
    }
  }

  @Test
  void http() throws Exception {
    assertRuns(
        "dev.lukko.http",
        """
        var request =
            dev.lukko.http.FencingTokenHeader.set(
                    java.net.http.HttpRequest.newBuilder(java.net.URI.create("http://localhost/")),
                    7)
                .build();
        System.out.print(
            request.headers().firstValue("Fencing-Token").orElse("").equals("7") + " RELEASED");
        """,
        "requires java.net.http;",
        "lukko-http");
  }

  private void assertRuns(String module, String body, String... more) throws Exception {
    String requires =
        Arrays.stream(more)
            .filter(each -> each.startsWith("requires "))
            .collect(Collectors.joining());
    List<String> artifacts =
        Stream.concat(
                Stream.of("lukko-core"),
                Arrays.stream(more).filter(each -> !each.startsWith("requires ")))
            .toList();
    String path = modulePath(artifacts);
    Path sources = folder.resolve("application");
    write(
        sources.resolve("module-info.java"),
        "module application { requires " + module + "; " + requires + " }");
    write(
        sources.resolve("application/Main.java"),
        """
        package application;

        public class Main {
          public static void main(String[] arguments) throws Exception {
        %s  }
        }
        """
            .formatted(body));
    Path classes = folder.resolve("classes");
    compile(path, sources, classes);
    String whole = path + File.pathSeparator + classes;
    assertThat(run("--module-path", whole, "--module", "application/application.Main"))
        .isEqualTo("true RELEASED");
    // A class path asks the runtime for no module: one that was cut down may lack those of the JDK.
    assertThat(
            run(
                "--limit-modules",
                "java.se,jdk.unsupported",
                "--class-path",
                whole,
                "application.Main"))
        .isEqualTo("true RELEASED");
  }

  private static void write(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  /** What of this process' class path belongs to the artifacts; each must be there. */
  private static String modulePath(List<String> artifacts) {
    List<String> entries = List.of(System.getProperty("java.class.path").split(File.pathSeparator));
    return artifacts.stream()
        .flatMap(
            artifact -> {
              Pattern form =
                  Pattern.compile(
                      ".*[/\\\\]"
                          + artifact
                          + "(-[0-9][^/\\\\]*\\.jar|[/\\\\]target[/\\\\]classes)");
              List<String> found =
                  entries.stream()
                      .filter(entry -> form.matcher(entry).matches())
                      .filter(entry -> !entry.endsWith("-tests.jar"))
                      .toList();
              assertThat(found).as(artifact).isNotEmpty();
              return found.stream();
            })
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static void compile(String modulePath, Path sources, Path classes) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter said = new StringWriter();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      boolean compiled =
          compiler
              .getTask(
                  said,
                  files,
                  null,
                  List.of("--module-path", modulePath, "-d", classes.toString(), "-proc:none"),
                  null,
                  files.getJavaFileObjects(
                      sources.resolve("module-info.java"),
                      sources.resolve("application/Main.java")))
              .call();
      assertThat(compiled).as(said.toString()).isTrue();
    }
  }

  private String run(String... options) throws IOException, InterruptedException {
    Path errors = folder.resolve("errors");
    Process child =
        new ProcessBuilder(
                Stream.concat(
                        Stream.of(
                            Path.of(System.getProperty("java.home"), "bin", "java").toString()),
                        Stream.of(options))
                    .toList())
            .redirectError(errors.toFile())
            .start();
    try (InputStream output = child.getInputStream()) {
      String said = new String(output.readAllBytes(), StandardCharsets.UTF_8);
      assertThat(child.waitFor(30, TimeUnit.SECONDS)).isTrue();
      assertThat(child.exitValue()).as(Files.readString(errors)).isZero();
      return said;
    } finally {
      child.destroyForcibly();
    }
  }
}
