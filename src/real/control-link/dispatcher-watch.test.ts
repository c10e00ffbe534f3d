/** V1: a node finds out that its dispatcher's machine is gone, and lets a dispatcher be that is only stopped. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { test } from "node:test";
import { DispatcherWatch } from "./dispatcher-watch.ts";
import { connected, openDoor } from "./testing/link.ts";

const quick = { quietMs: 5, knockMsMax: 50 };

function watched(port: number): { readonly gone: Promise<string>; readonly watch: DispatcherWatch } {
  let tell!: (why: string) => void;
  const gone = new Promise<string>((resolve) => {
    tell = resolve;
  });
  return { gone, watch: new DispatcherWatch({ host: "127.0.0.1", port, ...quick, gone: tell }) };
}

/** Takes every call; `calls` is fulfilled after so many. */
async function listener(
  speaks: boolean,
  callsWanted: number,
): Promise<{ server: Server; port: number; calls: Promise<void> }> {
  let calls = 0;
  let enough!: () => void;
  const all = new Promise<void>((resolve) => {
    enough = resolve;
  });
  const server = createServer((socket) => {
    socket.on("error", () => {});
    if (speaks) socket.write("challenge");
    if (++calls === callsWanted) enough();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { server, port: (server.address() as { port: number }).port, calls: all };
}

const alive = { speaks: true, calls: 10 };
const stopped = { speaks: false, calls: 3 };
for (const [what, { speaks, calls }] of Object.entries({ alive, stopped })) {
  test(`V1: a dispatcher that is ${what} is knocked at again and again, and is not gone; one that is gone is`, async () => {
    const { server, port, calls: enough } = await listener(speaks, calls);
    const { gone, watch } = watched(port);
    let isGone = false;
    void gone.then(() => {
      isGone = true;
    });
    await enough;
    assert(!isGone);
    server.close();
    // Nothing keeps the process alive for the sake of a knock.
    const waiting = setInterval(() => {}, 1000);
    assert.match(await gone, /^nobody answers at 127\.0\.0\.1:\d+$/);
    clearInterval(waiting);
    watch.end();
  });
}

test("V1: the dispatcher's door answers a knock, and does not count it as a stranger", async (t) => {
  const door = openDoor(t);
  const { invitation } = await connected(t, door);
  let calls = 0;
  const watch = new DispatcherWatch({ ...invitation, ...quick, gone: () => assert.fail("it is there") });
  t.after(() => watch.end());
  const more = door.invite(() => {
    calls++;
  });
  await connected(t, door);
  assert.equal(calls, 0);
  more.withdraw();
  assert.equal(door.strangers, 0);
});

test("V1: a dispatcher that has spoken, and said how long it may be quiet, is knocked at after that time", async (t) => {
  const waits: number[] = [];
  const { setTimeout } = globalThis;
  t.mock.method(globalThis, "setTimeout", (act: () => void, ms: number) => {
    waits.push(ms);
    return setTimeout(act, ms);
  });
  const { watch } = watched(1);
  t.after(() => watch.end());
  watch.quietIs(12_345);
  watch.heard();
  while (waits.length < 2) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(waits, [quick.quietMs, 12_345]);
});
