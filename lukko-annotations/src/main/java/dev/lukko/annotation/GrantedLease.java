package dev.lukko.annotation;

import dev.lukko.ClientHealth;
import dev.lukko.Lease;
import dev.lukko.LockClient;
import dev.lukko.LockReport;
import dev.lukko.LockRequest;
import java.util.concurrent.CompletableFuture;

/** A client whose lease has been granted already, so that its bodies run under that one. */
final class GrantedLease implements LockClient {
  private final LockClient locks;
  private final Lease lease;

  GrantedLease(LockClient locks, Lease lease) {
    this.locks = locks;
    this.lease = lease;
  }

  @Override
  public Lease acquire(LockRequest request) {
    return lease;
  }

  @Override
  public CompletableFuture<Lease> acquireAsync(LockRequest request) {
    return CompletableFuture.completedFuture(lease);
  }

  @Override
  public LockReport inspect(String resource) {
    return locks.inspect(resource);
  }

  @Override
  public ClientHealth health() {
    return locks.health();
  }

  /** Gives the lease back; the client is somebody else's. */
  @Override
  public void close() {
    lease.release();
  }
}
