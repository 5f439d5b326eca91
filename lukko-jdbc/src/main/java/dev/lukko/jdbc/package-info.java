/** Lock nodes, fence and idempotency keys on PostgreSQL, MySQL, MariaDB, H2 and SQLite. */
@NullMarked
package dev.lukko.jdbc;

import org.jspecify.annotations.NullMarked;
