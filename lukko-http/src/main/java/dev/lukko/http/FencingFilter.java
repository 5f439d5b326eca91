package dev.lukko.http;

import dev.lukko.fencing.Fence;
import dev.lukko.fencing.FenceArguments;
import dev.lukko.fencing.InMemoryFence;
import dev.lukko.fencing.StaleTokenException;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A servlet filter that refuses callers whose {@linkplain FencingTokenHeader fencing token} is
 * stale.
 *
 * <ul>
 *   <li>412 Precondition Failed, with both numbers in the text: the resource has seen a higher
 *       token. The request was not run.
 *   <li>400 Bad Request: the header is not one positive decimal number, or missing where it is
 *       required; or the request is for a name that no resource can have (longer than 255
 *       characters, with a control character). The request was not run.
 * </ul>
 *
 * <p><b>The resource's name</b> must be what the application itself routes by: if two spellings of
 * an address reach the same resource, they must give the same name, or a stale caller gets around
 * the fence by the other one. {@link #routedPath} is the path as the container routes it; {@code
 * getRequestURI()} is not. Where the application reads an identifier out of the path, take that.
 *
 * <p>{@code GET} and {@code HEAD} are reads: they raise the fence without counting as a write. All
 * other methods are writes. The token of an accepted request is in its attribute {@link
 * #TOKEN_ATTRIBUTE}, a {@link Long}.
 *
 * <p><b>What a check in front of the request is worth.</b> {@link #checking} leaves a gap: a
 * request that has passed can be overtaken by one with a higher token before it writes. Hand its
 * token on to the database ({@code JdbcFence}, {@code RowFence}) to close it. {@link #serializing}
 * has no gap, for a resource of which this process is the only server: requests for one resource
 * run one after the other, each under the fence. Do not use it with asynchronous servlets, which
 * write after the filter has returned.
 *
 * <p>Thread-safe.
 */
@SuppressWarnings("exports") // a client's module need not have the servlets of the filter
public final class FencingFilter implements Filter {
  /** The request attribute with the accepted token. */
  public static final String TOKEN_ATTRIBUTE = "dev.lukko.http.fencing-token";

  private static final Set<String> READS = Set.of("GET", "HEAD");

  private final Fence fence;
  private final @Nullable InMemoryFence serializer;
  private final Function<? super HttpServletRequest, @Nullable String> resource;
  private final boolean required;

  private FencingFilter(
      Fence fence,
      @Nullable InMemoryFence serializer,
      Function<? super HttpServletRequest, @Nullable String> resource,
      boolean required) {
    this.fence = fence;
    this.serializer = serializer;
    this.resource = resource;
    this.required = required;
  }

  /**
   * A filter that checks and then lets the request run.
   *
   * @param resource the name of the resource that a request is for, or null if it is not guarded
   */
  public static FencingFilter checking(
      Fence fence, Function<? super HttpServletRequest, @Nullable String> resource) {
    return new FencingFilter(fence, null, resource, true);
  }

  /**
   * A filter that runs writes under the fence, one at a time for each resource.
   *
   * @param resource the name of the resource that a request is for, or null if it is not guarded
   */
  public static FencingFilter serializing(
      InMemoryFence fence, Function<? super HttpServletRequest, @Nullable String> resource) {
    return new FencingFilter(fence, fence, resource, true);
  }

  /**
   * The path by which the container routes a request: decoded, without path parameters, with dot
   * segments resolved. All spellings of an address that reach the same servlet and path have the
   * same one.
   */
  public static String routedPath(HttpServletRequest request) {
    String inside = request.getPathInfo();
    return inside == null ? request.getServletPath() : request.getServletPath() + inside;
  }

  /** The same, letting guarded requests without the header pass unchecked. */
  public FencingFilter optional() {
    return new FencingFilter(fence, serializer, resource, false);
  }

  @Override
  public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    if (!(request instanceof HttpServletRequest http)
        || !(response instanceof HttpServletResponse answer)) {
      chain.doFilter(request, response);
      return;
    }
    String name = resource.apply(http);
    if (name == null) {
      chain.doFilter(request, response);
      return;
    }
    List<String> headers = Collections.list(http.getHeaders(FencingTokenHeader.NAME));
    if (headers.isEmpty() && !required) {
      chain.doFilter(request, response);
      return;
    }
    OptionalLong token =
        headers.size() == 1 ? FencingTokenHeader.parse(headers.get(0)) : OptionalLong.empty();
    if (token.isEmpty()) {
      refuse(
          answer,
          HttpServletResponse.SC_BAD_REQUEST,
          headers.isEmpty()
              ? "The header " + FencingTokenHeader.NAME + " is required."
              : "The header " + FencingTokenHeader.NAME + " must be one positive number.");
      return;
    }
    try {
      FenceArguments.resource(name);
    } catch (IllegalArgumentException impossible) {
      refuse(
          answer,
          HttpServletResponse.SC_BAD_REQUEST,
          "The request is for no resource: " + impossible.getMessage() + ".");
      return;
    }
    http.setAttribute(TOKEN_ATTRIBUTE, token.getAsLong());
    admit(name, token.getAsLong(), http, answer, chain);
  }

  private void admit(
      String name,
      long token,
      HttpServletRequest request,
      HttpServletResponse response,
      FilterChain chain)
      throws IOException, ServletException {
    boolean[] admitted = {false};
    try {
      if (READS.contains(request.getMethod())) {
        fence.touch(name, token);
      } else if (serializer == null) {
        fence.check(name, token);
      } else {
        serializer.run(
            name,
            token,
            () -> {
              admitted[0] = true;
              chain.doFilter(request, response);
              return null;
            });
        return;
      }
    } catch (StaleTokenException stale) {
      if (admitted[0]) {
        throw stale; // The application's own, of a fence further in.
      }
      refuse(
          response,
          HttpServletResponse.SC_PRECONDITION_FAILED,
          "Fencing token " + stale.token() + " is stale: " + stale.highest() + " has been seen.");
      return;
    } catch (IOException | ServletException | RuntimeException failed) {
      throw failed;
    } catch (Exception failed) {
      throw new ServletException(failed);
    }
    chain.doFilter(request, response);
  }

  private static void refuse(HttpServletResponse response, int status, String text)
      throws IOException {
    byte[] body = (text + "\n").getBytes(StandardCharsets.UTF_8);
    response.setStatus(status);
    response.setContentType("text/plain;charset=utf-8");
    response.setContentLength(body.length);
    response.getOutputStream().write(body);
  }
}
