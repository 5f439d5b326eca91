package dev.lukko.bench.soak;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The client processes of a run, one in each place; who is killed is replaced. */
final class Clients implements AutoCloseable {
  private static final long START_SECONDS = 60;
  private static final long CLOSE_SECONDS = 20;

  private final SoakPlan plan;
  private final Bed bed;
  private final Journal journal;
  private final List<ClientProcess> places = new ArrayList<>();
  private final List<ClientProcess> former = new ArrayList<>();
  private int started;

  Clients(SoakPlan plan, Bed bed, Journal journal) {
    this.plan = plan;
    this.bed = bed;
    this.journal = journal;
  }

  /** Starts them all and waits until they work. */
  synchronized void start() throws InterruptedException {
    for (int place = 0; place < plan.clients(); place++) {
      places.add(next(place));
    }
    for (ClientProcess client : places) {
      if (!client.awaitReady(START_SECONDS)) {
        throw new IllegalStateException("client " + client.name() + " did not start");
      }
    }
  }

  private ClientProcess next(int place) {
    int number = started++;
    return ClientProcess.start(
        plan.mode(),
        "c" + number,
        plan.seed() + number,
        bed.setLink(place).url("redis"),
        bed.urls(place),
        journal);
  }

  synchronized ClientProcess at(int place) {
    return places.get(place);
  }

  /** The place of a client; none if it is gone. */
  synchronized @Nullable Integer placeOf(@Nullable String name) {
    for (int place = 0; place < places.size(); place++) {
      if (places.get(place).name().equals(name)) {
        return place;
      }
    }
    return null;
  }

  synchronized void kill(int place) {
    places.get(place).kill();
  }

  synchronized void replace(int place) {
    former.add(places.set(place, next(place)));
  }

  /** Those that have ended though nobody killed them. */
  synchronized List<String> died(boolean[] killed) {
    List<String> died = new ArrayList<>();
    for (int place = 0; place < places.size(); place++) {
      if (!killed[place] && !places.get(place).isAlive()) {
        died.add("client " + places.get(place).name() + " has ended by itself");
      }
    }
    return died;
  }

  /** Lets all finish and close; names those that did not. */
  synchronized List<String> stop() throws InterruptedException {
    List<String> problems = new ArrayList<>();
    for (ClientProcess client : places) {
      if (client.isAlive() && client.awaitReady(START_SECONDS)) {
        client.stop();
      }
    }
    for (ClientProcess client : places) {
      if (!client.isReady()) {
        problems.add("client " + client.name() + " did not start");
      } else if (!client.awaitClosed(CLOSE_SECONDS)) {
        problems.add("client " + client.name() + " did not close");
      }
      client.kill(); // Its output is read to the end then.
    }
    return problems;
  }

  /** The client processes that are still there. */
  synchronized List<String> alive() {
    List<String> alive = new ArrayList<>();
    for (List<ClientProcess> some : List.of(places, former)) {
      some.stream().filter(ClientProcess::isAlive).forEach(each -> alive.add(each.name()));
    }
    return alive;
  }

  @Override
  public synchronized void close() {
    places.forEach(ClientProcess::close);
  }
}
