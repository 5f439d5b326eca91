// Adds to an unprotected counter under redlock's lock: read, let others run, write.
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { setImmediate, setTimeout } from "node:timers/promises";
import Redis from "ioredis";
import Redlock from "redlock";

const [name, counter, log, additions, ...urls] = process.argv.slice(2);
const clients = urls.map((url) => new Redis(url));
const redlock = new Redlock(clients, { retryCount: 0 });

redlock.on("error", () => {}); // what a single server says is in the outcome

// A call for each try: between the tries of one call redlock keeps what the lost one has made at some
// servers, and that stands in its own way too until its ttl is over.
async function acquire() {
  for (;;) {
    try {
      return await redlock.acquire([name], 20_000);
    } catch (lost) {
      await setTimeout(Math.random() * 5);
    }
  }
}

await Promise.all(clients.map((client) => client.ping()));
process.stdout.write("ready\n");
await new Promise((go) => process.stdin.once("data", go));
for (let i = 0; i < Number(additions); i++) {
  const lock = await acquire();
  const before = Number(await readFile(counter, "utf8"));
  await setImmediate();
  await writeFile(counter, String(before + 1));
  await appendFile(log, "n");
  await lock.release();
}
process.stdout.write("done\n");
process.exit(0);
