// A client process for redlock on ioredis: the words of dev.lukko.scorecard.client.Client.
import { createInterface } from "node:readline";
import Redis from "ioredis";
import Redlock from "redlock";

const [ttl, ...urls] = process.argv.slice(2);
const clients = urls.map((url) => new Redis(url));
clients.forEach((client) => client.on("error", () => {})); // ioredis connects again by itself
const redlock = new Redlock(clients, { retryCount: 0 });
redlock.on("error", () => {}); // what a single server says is in the outcome

let held = null;
const say = (line) => process.stdout.write(line + "\n");

// The documented way to hold a lock that is extended: the routine lasts until "unlock".
function acquire(name, keep) {
  return new Promise((answer) => {
    let granted = false;
    redlock
      .using([name], Number(ttl), async (signal) => {
        granted = true;
        signal.addEventListener("abort", () => say("lost"));
        await new Promise((release) => {
          const lock = { signal, release, ended: null };
          lock.ended = new Promise((tell) => (lock.tell = tell));
          if (keep) held = lock;
          answer("held -");
        });
      })
      .then(
        () => keep && held.tell("done"),
        (error) => {
          if (granted) {
            if (keep) held.tell("failed " + error.constructor.name);
          } else {
            Promise.all(error.attempts ?? []).then((attempts) => {
              const busy = attempts.some((attempt) =>
                [...attempt.votesAgainst.values()].some((e) => e.name === "ResourceLockedError"));
              answer(busy ? "busy" : "failed " + error.constructor.name);
            });
          }
        });
  });
}

async function answer([word, name]) {
  switch (word) {
    case "lock":
      return acquire(name, true);
    case "other":
      return acquire(name, false);
    case "unlock":
      held.release();
      return held.ended;
    case "held":
      return held.signal.aborted ? "no" : "yes";
    default:
      return "unsupported";
  }
}

await Promise.all(clients.map((client) => client.ping()));
say("ready");
for await (const line of createInterface({ input: process.stdin })) {
  say(await answer(line.split(" ")));
}
process.exit(0);
