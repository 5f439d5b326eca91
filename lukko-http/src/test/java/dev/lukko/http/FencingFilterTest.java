package dev.lukko.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.lukko.Lease;
import dev.lukko.fencing.InMemoryFence;
import dev.lukko.memory.InMemoryNode;
import dev.lukko.redlock.Redlock;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FencingFilterTest {
  private final HttpClient client = HttpClient.newHttpClient();
  private final List<String> served = new CopyOnWriteArrayList<>();
  private final CountDownLatch slowInside = new CountDownLatch(1);
  private final CountDownLatch slowGoOn = new CountDownLatch(1);
  private Server server;

  @AfterEach
  void stop() throws Exception {
    server.stop();
  }

  @Test
  void staleCallerIsRefusedWith412AndBothNumbersAndTheRequestIsNotRun() throws Exception {
    start(FencingFilter.checking(new InMemoryFence(), FencingFilterTest::lastPart));

    assertThat(send("PUT", "/account/7", "34").statusCode()).isEqualTo(200);
    assertThat(send("PUT", "/account/7", "34").statusCode()).isEqualTo(200);
    HttpResponse<String> refused = send("PUT", "/account/7", "33");
    assertThat(refused.statusCode()).isEqualTo(412);
    assertThat(refused.body()).contains("33", "34");
    assertThat(send("PUT", "/account/8", "1").statusCode()).isEqualTo(200);

    assertThat(served).containsExactly("PUT 7 34", "PUT 7 34", "PUT 8 1");
  }

  @Test
  void readOfTheNewHolderRaisesTheFenceAndDoesNotUseUpAStrictToken() throws Exception {
    InMemoryFence strict = InMemoryFence.builder().strict().build();
    start(FencingFilter.checking(strict, FencingFilterTest::lastPart));

    assertThat(send("GET", "/account/7", "34").statusCode()).isEqualTo(200);
    assertThat(send("PUT", "/account/7", "33").statusCode()).isEqualTo(412);
    assertThat(send("GET", "/account/7", "33").statusCode()).isEqualTo(412);
    assertThat(send("PUT", "/account/7", "34").statusCode()).isEqualTo(200);
    assertThat(send("PUT", "/account/7", "34").statusCode()).isEqualTo(412);
    assertThat(send("GET", "/account/7", "34").statusCode()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "-1",
        "+1",
        "01",
        "1.0",
        "1e3",
        "abc",
        "1 2",
        "0x1",
        "9223372036854775808",
        "99999999999999999999999",
        "1,2",
        ""
      })
  void garbageInTheHeaderIsRefusedWith400(String garbage) throws Exception {
    start(FencingFilter.checking(new InMemoryFence(), FencingFilterTest::lastPart).optional());
    assertThat(send("PUT", "/account/7", garbage).statusCode()).isEqualTo(400);
    assertThat(served).isEmpty();
  }

  @Test
  void twoHeadersAreRefusedWith400() throws Exception {
    start(FencingFilter.checking(new InMemoryFence(), FencingFilterTest::lastPart));
    assertThat(send("PUT", "/account/7", "34", "34").statusCode()).isEqualTo(400);
  }

  @Test
  void missingHeaderIsRefusedWith400UnlessItIsOptional() throws Exception {
    start(FencingFilter.checking(new InMemoryFence(), FencingFilterTest::lastPart));
    HttpResponse<String> refused = send("PUT", "/account/7");
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("Fencing-Token", "required");
    server.stop();

    start(FencingFilter.checking(new InMemoryFence(), FencingFilterTest::lastPart).optional());
    assertThat(send("PUT", "/account/7").statusCode()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/report/7;x=1",
        "/report;v=2/7",
        "/report/%37",
        "/%72eport/7",
        "/report/./7",
        "/report/8/../7",
        "/report/7?again=1"
      })
  void staleCallerIsRefusedAtEverySpellingOfAnAddress(String spelling) throws Exception {
    start(FencingFilter.checking(new InMemoryFence(), FencingFilter::routedPath));
    assertThat(send("PUT", "/report/7", "34").statusCode()).isEqualTo(200);

    HttpResponse<String> answer = send("PUT", spelling, "33");

    // Some containers refuse ambiguous spellings before the filter; none may run them.
    assertThat(answer.statusCode()).isIn(400, 412);
    assertThat(served).containsExactly("PUT 7 34");
  }

  @Test
  void addressThatCannotNameAResourceIsRefusedWith400AndNotRun() throws Exception {
    start(FencingFilter.checking(new InMemoryFence(), FencingFilter::routedPath));

    HttpResponse<String> answer = send("PUT", "/report/" + "7".repeat(300), "34");

    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).contains("308 characters", "1 to 255");
    assertThat(served).isEmpty();
  }

  @Test
  void requestForNoResourceIsNotGuarded() throws Exception {
    start(FencingFilter.checking(new InMemoryFence(), request -> null));
    assertThat(send("PUT", "/account/7").statusCode()).isEqualTo(200);
    assertThat(send("PUT", "/account/7", "garbage").statusCode()).isEqualTo(200);
  }

  @Test
  void highestTokenIsOne() throws Exception {
    start(FencingFilter.checking(new InMemoryFence(), FencingFilterTest::lastPart));
    assertThat(send("PUT", "/account/7", Long.toString(Long.MAX_VALUE)).statusCode())
        .isEqualTo(200);
  }

  @Test
  void serializingFilterLetsAHigherTokenWaitForTheRunningRequest() throws Exception {
    start(FencingFilter.serializing(new InMemoryFence(), FencingFilterTest::lastPart));

    CompletableFuture<HttpResponse<String>> slow = sendAsync("PUT", "/slow/7", "33");
    assertThat(slowInside.await(30, TimeUnit.SECONDS)).isTrue();
    CompletableFuture<HttpResponse<String>> next = sendAsync("PUT", "/account/7", "34");
    assertThat(send("PUT", "/account/8", "1").statusCode()).isEqualTo(200);
    slowGoOn.countDown();

    assertThat(slow.get(30, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    assertThat(next.get(30, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    assertThat(send("PUT", "/account/7", "33").statusCode()).isEqualTo(412);
    assertThat(served).containsExactly("PUT 8 1", "PUT 7 33", "PUT 7 34");
  }

  @Test
  void failureOfTheApplicationPassesAndTheTokenStaysSeen() throws Exception {
    start(FencingFilter.serializing(new InMemoryFence(), FencingFilterTest::lastPart));
    assertThat(send("PUT", "/fail/7", "34").statusCode()).isEqualTo(500);
    assertThat(send("PUT", "/account/7", "33").statusCode()).isEqualTo(412);
    assertThat(send("PUT", "/account/7", "34").statusCode()).isEqualTo(200);
  }

  @Test
  void clientSendsTheTokenOfItsLease() throws Exception {
    start(FencingFilter.checking(new InMemoryFence(), FencingFilterTest::lastPart));
    try (Redlock locks = Redlock.over(new InMemoryNode());
        Lease lease = locks.acquire("account:7", Duration.ofMinutes(1))) {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(uri("/account/7")).header("Fencing-Token", "1");
      FencingTokenHeader.set(request, lease);
      client.send(request.build(), BodyHandlers.ofString());
      assertThat(served).containsExactly("GET 7 " + lease.fencingToken());
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FencingTokenHeader.set(HttpRequest.newBuilder(), 0))
        .withMessageContaining("token");
  }

  private static String lastPart(HttpServletRequest request) {
    String path = request.getRequestURI();
    return path.substring(path.lastIndexOf('/') + 1);
  }

  private void start(FencingFilter filter) throws Exception {
    server = new Server();
    ServerConnector connector = new ServerConnector(server);
    connector.setHost("127.0.0.1");
    server.addConnector(connector);
    ServletContextHandler context = new ServletContextHandler();
    context.addFilter(new FilterHolder(filter), "/*", EnumSet.of(DispatcherType.REQUEST));
    context.addServlet(new ServletHolder(new Recorder()), "/*");
    server.setHandler(context);
    server.start();
  }

  private URI uri(String path) {
    int port = ((ServerConnector) server.getConnectors()[0]).getLocalPort();
    return URI.create("http://127.0.0.1:" + port + path);
  }

  private HttpResponse<String> send(String method, String path, String... tokens) throws Exception {
    return sendAsync(method, path, tokens).get(30, TimeUnit.SECONDS);
  }

  private CompletableFuture<HttpResponse<String>> sendAsync(
      String method, String path, String... tokens) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri(path)).method(method, HttpRequest.BodyPublishers.noBody());
    for (String token : tokens) {
      request.header(FencingTokenHeader.NAME, token);
    }
    return client.sendAsync(request.build(), BodyHandlers.ofString());
  }

  private final class Recorder extends HttpServlet {
    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response)
        throws IOException {
      if (request.getRequestURI().startsWith("/fail")) {
        throw new IOException("failed on purpose");
      }
      if (request.getRequestURI().startsWith("/slow")) {
        slowInside.countDown();
        try {
          slowGoOn.await(30, TimeUnit.SECONDS);
        } catch (InterruptedException interrupted) {
          throw new IOException(interrupted);
        }
      }
      served.add(
          request.getMethod()
              + ' '
              + lastPart(request)
              + ' '
              + request.getAttribute(FencingFilter.TOKEN_ATTRIBUTE));
    }
  }
}
