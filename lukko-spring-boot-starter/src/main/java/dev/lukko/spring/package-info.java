/** Lukko in Spring Boot applications: a client by configuration, and what belongs to it. */
@NullMarked
package dev.lukko.spring;

import org.jspecify.annotations.NullMarked;
