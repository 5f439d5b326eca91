package dev.lukko.compat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.lukko.testkit.RedisServer;
import java.io.File;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.WeakReference;
import java.lang.reflect.Constructor;
import java.lang.runtime.ObjectMethods;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An application that a container loads, runs in a thread of its own and takes away again: nothing
 * may hold its classes when it has closed what it opened, least of all the container's thread.
 */
class RedeploymentTest {
  private final ExecutorService container = Executors.newSingleThreadExecutor();
  private RedisServer server;

  @BeforeEach
  void start() {
    server = RedisServer.start();
  }

  @AfterEach
  void stop() {
    container.shutdownNow();
    server.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"RedeployedOverLettuce", "RedeployedOverJedis"})
  void classesOfAnApplicationThatHasClosedItsLocksAreCollected(String application)
      throws Exception {
    WeakReference<ClassLoader> loader =
        container.submit(() -> deployed(application, server.url())).get();
    await()
        .until(
            () -> {
              letGoOfTheLastRecord();
              System.gc();
              return loader.get() == null;
            });
    // The thread has lived on.
    assertThat(container.submit(() -> "alive").get()).isEqualTo("alive");
  }

  /**
   * JDKs before 21 keep the last class for which they have made the methods of records: here they
   * make those of another one.
   */
  private static void letGoOfTheLastRecord() {
    record Text(String text) {}
    MethodHandles.Lookup lookup = MethodHandles.lookup();
    try {
      MethodHandle getter = lookup.findGetter(Text.class, "text", String.class);
      for (var method :
          Map.of(
                  "equals", MethodType.methodType(boolean.class, Text.class, Object.class),
                  "hashCode", MethodType.methodType(int.class, Text.class),
                  "toString", MethodType.methodType(String.class, Text.class))
              .entrySet()) {
        assertThat(
                ObjectMethods.bootstrap(
                    lookup, method.getKey(), method.getValue(), Text.class, "text", getter))
            .isNotNull();
      }
    } catch (Throwable unexpected) {
      throw new AssertionError(unexpected);
    }
  }

  @SuppressWarnings("unchecked") // the application's main class, by what both loaders share
  private static WeakReference<ClassLoader> deployed(String application, String url)
      throws Exception {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader loader =
        new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader())) {
      thread.setContextClassLoader(loader);
      Class<?> type = loader.loadClass("dev.lukko.compat." + application);
      assertThat(type.getClassLoader()).isSameAs(loader);
      Constructor<?> constructor = type.getDeclaredConstructor();
      constructor.setAccessible(true);
      ((Consumer<String>) constructor.newInstance()).accept(url);
      return new WeakReference<>(loader);
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private static URL[] classPath() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .map(
            entry -> {
              try {
                return Path.of(entry).toUri().toURL();
              } catch (MalformedURLException unusable) {
                throw new IllegalStateException(unusable);
              }
            })
        .toArray(URL[]::new);
  }
}
