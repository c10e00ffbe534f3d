/** X7: strangers at a node's door. Whatever they do, they are dropped and a running exchange goes on. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import fc from "../../../core/base/test-properties.ts";
import { type Answer, decodeAnswer, decodeHello, encodeAnswer, encodeHello, helloBytes, Verdict } from "./hello.ts";
import { helloMsMax, strangersMax } from "./reception.ts";
import { TcpHost } from "./tcp-host.ts";
import { newTcpWorld, type TcpWorld, testJob } from "./tcp-world.ts";

const hello = { from: 0, to: 1, incarnation: 0, generation: 7, random: Uint8Array.from(randomBytes(16)) };

/** Connects to a node and does something; resolves when the node has closed the connection, with what it sent. */
function stranger(world: TcpWorld, node: number, act: (socket: Socket) => void): Promise<Buffer> {
  return new Promise((resolve) => {
    const got: Buffer[] = [];
    const socket = connect(world.hosts[node]!.port, "127.0.0.1", () => act(socket));
    socket.on("data", (chunk) => got.push(chunk));
    socket.on("error", () => {});
    socket.on("close", () => resolve(Buffer.concat(got)));
  });
}

/** Keeps two ranks talking while something else happens; says how many messages crossed. */
async function whileTalking(world: TcpWorld, what: Promise<unknown>): Promise<number> {
  const [a, b] = world.ranks;
  let over = false;
  void what.then(() => {
    over = true;
  });
  let sent = 0;
  while (!over) {
    if (a!.send(1, sent)) sent++;
    await world.until(() => b!.arrivals.length === sent);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return sent;
}

const acts: Record<string, (socket: Socket) => void> = {
  garbage: (socket) => socket.write(randomBytes(40)),
  "a flood": (socket) => {
    const more = () => {
      while (!socket.destroyed && socket.write(randomBytes(65_536)));
    };
    socket.on("drain", more);
    more();
  },
  "the wrong secret": (socket) => socket.write(encodeHello({ ...testJob, secret: randomBytes(32) }, hello)),
  "the right secret and then garbage": (socket) => socket.write(Buffer.concat([testJob.secret, randomBytes(72)])),
  "another job": (socket) => socket.write(encodeHello({ ...testJob, id: "other" }, hello)),
  "a hello and something behind it": (socket) =>
    socket.write(Buffer.concat([encodeHello(testJob, hello), Buffer.alloc(1)])),
  "an HTTP request": (socket) => socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
};

for (const [name, act] of Object.entries(acts)) {
  test(`X7: a stranger with ${name} is dropped and the job goes on`, async () => {
    const world = await newTcpWorld(2, "koffi");
    const gone = stranger(world, 1, act);
    await whileTalking(world, gone);
    assert.equal((await gone).length, 0, "and hears nothing");
    await world.until(() => world.events.length === 1);
    assert.equal(world.events[0]!.kind, "stranger");
    world.close();
  });
}

test("X7: a stranger who leaves in the middle of a hello is forgotten without a word", async () => {
  const world = await newTcpWorld(2, "koffi");
  await whileTalking(
    world,
    stranger(world, 1, (socket) => socket.end(encodeHello(testJob, hello).subarray(0, 50))),
  );
  assert.deepEqual(world.events, []);
  world.close();
});

test("X7: a silent stranger is dropped after two seconds, one too many at once", async () => {
  const world = await newTcpWorld(2, "koffi");
  const start = Date.now();
  const silent = Array.from({ length: strangersMax }, () => stranger(world, 1, () => {}));
  const first = Promise.race(silent);
  // The door is full of silent ones, and still a rank gets in: the one who has waited longest makes room.
  const talked = await whileTalking(
    world,
    stranger(world, 1, () => {}),
  );
  assert.ok(talked > 0);
  await first;
  await Promise.all(silent);
  const took = Date.now() - start;
  assert.ok(took >= helloMsMax * 0.9 && took < helloMsMax * 2.5, `${took} ms`);
  world.close();
});

test("X7: a hello for a rank that is not there is answered, and leads nowhere", async () => {
  const world = await newTcpWorld(2, "koffi");
  for (const wrong of [
    { ...hello, to: 0 },
    { ...hello, from: 99 },
    { ...hello, from: 1 },
  ]) {
    const answer = await stranger(world, 1, (socket) => socket.write(encodeHello(testJob, wrong)));
    assert.equal(decodeAnswer(testJob, wrong, answer)?.verdict, Verdict.ABSENT);
  }
  assert.ok(!world.ranks[1]!.transport.hasSockets);
  world.close();
});

test("X7: a stranger who listens in a node's place does not become a peer", async () => {
  const events: string[] = [];
  const host = new TcpHost({
    ...{ job: testJob, ranks: 2, ranksHere: [0] },
    ring: () => events.push("rang"),
    report: (event) => events.push(event.kind),
  });
  await host.listen();
  let connections = 0;
  const impostor = createServer((socket) => {
    connections++;
    socket.on("error", () => {});
    socket.on("data", () => socket.write(randomBytes(48)));
  });
  await new Promise<void>((resolve) => impostor.listen(0, "127.0.0.1", resolve));
  const { port } = impostor.address() as { port: number };
  host.setAddressBook([0, 1].map(() => ({ host: "127.0.0.1", port })));
  host.handle({ kind: "tcp-connect", from: 0, to: 1, life: 0, generation: 0 });
  while (connections < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(events, []);
  host.close();
  impostor.close();
});

test("X7: a port in use is one clear line", async () => {
  const options = { job: testJob, ranks: 2, ranksHere: [0], ring: () => {}, report: () => {} };
  const first = new TcpHost(options);
  await first.listen();
  const second = new TcpHost({ ...options, port: first.port });
  assert.deepEqual(await second.listen(), {
    ok: false,
    reason: `Cannot listen on 127.0.0.1:${first.port}: the port is in use`,
  });
  first.close();
  second.close();
});

test("X7: hellos and answers survive the way, and nothing else passes for one", () => {
  const bytes = encodeHello(testJob, hello);
  assert.equal(bytes.length, helloBytes);
  assert.deepEqual(decodeHello(testJob, bytes), hello);
  const answer: Answer = { verdict: Verdict.YIELD, incarnation: 3, generation: 9 };
  const answered = encodeAnswer(testJob, hello, answer);
  assert.deepEqual(decodeAnswer(testJob, hello, answered), answer);
  const other = { ...hello, random: Uint8Array.from(randomBytes(16)) };
  assert.equal(decodeAnswer(testJob, other, answered), null, "an old answer proves nothing");
  fc.assert(
    fc.property(fc.nat(helloBytes - 17), fc.integer({ min: 1, max: 255 }), (at, flip) => {
      // Numbers of ranks, incarnation and generation may be anything; who says them has been proven.
      if (at >= 72 && at < 88) return;
      const changed = Buffer.from(bytes);
      changed[at]! ^= flip;
      assert.equal(decodeHello(testJob, changed), null);
    }),
  );
  fc.assert(
    fc.property(fc.nat(47), fc.integer({ min: 1, max: 255 }), (at, flip) => {
      const changed = Buffer.from(answered);
      changed[at]! ^= flip;
      assert.equal(decodeAnswer(testJob, hello, changed), null);
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (anything) => {
      assert.equal(decodeHello(testJob, Buffer.from(anything)), null);
      assert.equal(decodeAnswer(testJob, hello, Buffer.from(anything)), null);
    }),
  );
});
