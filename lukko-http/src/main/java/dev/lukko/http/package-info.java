/**
 * Fencing tokens over HTTP: {@link dev.lukko.http.FencingFilter} at the server, {@link
 * dev.lukko.http.FencingTokenHeader} at the client.
 */
@NullMarked
package dev.lukko.http;

import org.jspecify.annotations.NullMarked;
