package dev.lukko.http;

import dev.lukko.Lease;
import dev.lukko.fencing.Fence;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;

/** Code of the guide on fencing, here to be compiled. */
final class FencingSnippets {

  FencingFilter server(Fence fence) {
    // begin http-server
    return FencingFilter.checking(fence, FencingFilter::routedPath);
    // end http-server
  }

  HttpRequest client(URI uri, String text, Lease lease) {
    // begin http-client
    HttpRequest.Builder request = HttpRequest.newBuilder(uri).PUT(BodyPublishers.ofString(text));
    return FencingTokenHeader.set(request, lease).build();
    // end http-client
  }
}
