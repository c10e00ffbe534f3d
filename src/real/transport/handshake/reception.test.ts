/** X7: strangers at a node's door. Whatever they do, they are dropped and a running exchange goes on. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { TcpHost } from "../tcp/tcp-host.ts";
import { newTcpWorld, type TcpWorld, testJob } from "../testing/tcp-world.ts";
import {
  answerBytes,
  type CallAnswer,
  CallerHandshake,
  CallVerdict,
  challengeBytes,
  type Hello,
  helloBytes,
  type JobSecret,
  ListenerHandshake,
  ServiceCode,
} from "./handshake.ts";
import { helloMsMax, Reception, strangersMax } from "./reception.ts";

const hello: Hello = { service: ServiceCode.RANK, from: 0, to: 1, incarnation: 0, wanted: 0, generation: 7 };

/** Connects to a node and does something when it is challenged; resolves when the node has closed, with what else it sent. */
function stranger(port: number, act: (socket: Socket, challenge: Buffer) => void): Promise<Buffer> {
  return new Promise((resolve) => {
    let got = Buffer.alloc(0);
    const socket = connect(port, "127.0.0.1");
    socket.on("data", (chunk) => {
      const isChallenged = got.length >= challengeBytes;
      got = Buffer.concat([got, chunk]);
      if (!isChallenged && got.length >= challengeBytes) act(socket, got.subarray(0, challengeBytes));
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(got.subarray(challengeBytes)));
  });
}

const portOf = (world: TcpWorld, node: number): number => world.hosts[node]!.port;
const helloTo = (challenge: Buffer, job: JobSecret = testJob, what = hello): Buffer =>
  new CallerHandshake(job, what).hello(challenge)!;

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

const acts: Record<string, (socket: Socket, challenge: Buffer) => void> = {
  garbage: (socket) => socket.write(randomBytes(helloBytes)),
  "a flood": (socket) => {
    const more = () => {
      while (!socket.destroyed && socket.write(randomBytes(65_536)));
    };
    socket.on("drain", more);
    more();
  },
  "the wrong secret": (socket, challenge) =>
    socket.write(helloTo(challenge, { ...testJob, secret: Uint8Array.from(randomBytes(32)) })),
  "another job": (socket, challenge) => socket.write(helloTo(challenge, { ...testJob, id: "other" })),
  "a hello for another service": (socket, challenge) =>
    socket.write(helloTo(challenge, testJob, { ...hello, service: ServiceCode.LOGGER })),
  "a hello and something behind it": (socket, challenge) =>
    socket.write(Buffer.concat([helloTo(challenge), Buffer.alloc(1)])),
  "an HTTP request": (socket) =>
    socket.write(`GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${"x".repeat(helloBytes)}\r\n\r\n`),
};

for (const [name, act] of Object.entries(acts)) {
  test(`X7: a stranger with ${name} is dropped and the job goes on`, async () => {
    const world = await newTcpWorld(2, "koffi");
    const gone = stranger(portOf(world, 1), act);
    await whileTalking(world, gone);
    assert.equal((await gone).length, 0, "and hears nothing but its challenge");
    await world.until(() => world.events.length === 1);
    assert.equal(world.events[0]!.kind, "stranger");
    world.close();
  });
}

test("X7: a hello that was heard elsewhere is of no use: the challenge is another", async () => {
  const world = await newTcpWorld(2, "koffi");
  let heard: Buffer = Buffer.alloc(0);
  const first = await stranger(portOf(world, 1), (socket, challenge) => {
    // One that is answered, because it is true: the rank is not there.
    heard = helloTo(challenge, testJob, { ...hello, to: 9 });
    socket.write(heard);
  });
  assert.equal(first.length, answerBytes);
  assert.equal((await stranger(portOf(world, 1), (socket) => socket.write(heard))).length, 0);
  assert.deepEqual(world.events, [{ kind: "stranger", reason: "a hello without the job's proof" }]);
  world.close();
});

test("X7: the first wrong byte of a hello ends nothing: it cannot be guessed byte by byte", async () => {
  const world = await newTcpWorld(2, "koffi");
  let isWhole = false;
  const gone = stranger(portOf(world, 1), (socket) => {
    const wrong = randomBytes(helloBytes);
    let at = 0;
    const next = (): void => {
      isWhole = at === helloBytes - 1;
      socket.write(wrong.subarray(at, ++at), () => {
        if (at < helloBytes) setImmediate(next);
      });
    };
    next();
  });
  await gone;
  assert.ok(isWhole, "it was heard to its end");
  world.close();
});

test("X7: a stranger who leaves in the middle of a hello is forgotten without a word", async () => {
  const world = await newTcpWorld(2, "koffi");
  await whileTalking(
    world,
    stranger(portOf(world, 1), (socket, challenge) => socket.end(helloTo(challenge).subarray(0, 50))),
  );
  assert.deepEqual(world.events, []);
  world.close();
});

test("X7: a silent stranger is dropped after a while, one too many at once", async () => {
  const world = await newTcpWorld(2, "koffi");
  const start = Date.now();
  const silent = Array.from({ length: strangersMax }, () => stranger(portOf(world, 1), () => {}));
  const first = Promise.race(silent);
  // The door is full of silent ones, and still a rank gets in: the one who has waited longest makes room.
  const talked = await whileTalking(
    world,
    stranger(portOf(world, 1), () => {}),
  );
  assert.ok(talked > 0);
  await first;
  await Promise.all(silent);
  const took = Date.now() - start;
  assert.ok(took >= helloMsMax * 0.9, `${took} ms`);
  world.close();
});

test("X7: a hello for a rank that is not there is answered, and leads nowhere", async () => {
  const world = await newTcpWorld(2, "koffi");
  for (const wrong of [
    { ...hello, to: 0 },
    { ...hello, from: 99 },
    { ...hello, from: 1 },
    // Another life of the caller, and of the one who is called: a stranger in the middle may pass on what was meant for it.
    { ...hello, incarnation: 1 },
    { ...hello, wanted: 1 },
  ]) {
    const caller = new CallerHandshake(testJob, wrong);
    const bytes = await stranger(portOf(world, 1), (socket, challenge) => socket.write(caller.hello(challenge)!));
    assert.equal(caller.answer(bytes)?.verdict, CallVerdict.ABSENT, JSON.stringify(wrong));
  }
  assert.ok(!world.ranks[1]!.transport.hasSockets);
  world.close();
});

test("X7: a stranger who listens in a node's place does not become a peer", async () => {
  const events: string[] = [];
  const host = new TcpHost({
    job: testJob,
    ranks: 2,
    ranksHere: [0],
    ring: () => events.push("rang"),
    report: (event) => events.push(event.kind),
  });
  await host.listen();
  let connections = 0;
  const heard: Buffer[] = [];
  const impostor = createServer((socket) => {
    connections++;
    socket.on("error", () => {});
    // A challenge of the right form costs it nothing; then it hears a hello, and its answer is of the right form without the proof.
    const handshake = new ListenerHandshake({ ...testJob, secret: new Uint8Array(32) }, ServiceCode.RANK);
    socket.write(handshake.challenge);
    socket.on("data", (chunk) => {
      heard.push(chunk);
      handshake.take(chunk);
      socket.write(handshake.answer({ verdict: CallVerdict.WELCOME, incarnation: 0, generation: 1 }));
    });
  });
  await new Promise<void>((resolve) => impostor.listen(0, "127.0.0.1", resolve));
  const { port } = impostor.address() as { port: number };
  host.setAddressBook([0, 1].map(() => ({ host: "127.0.0.1", port })));
  host.handle({ kind: "tcp-connect", from: 0, to: 1, life: 0, generation: 0 });
  while (connections < 3 && events.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(events, []);
  const bytes = Buffer.concat(heard);
  assert.ok(bytes.length >= helloBytes);
  assert.equal(bytes.indexOf(testJob.secret.subarray(0, 8)), -1, "and does not learn the secret");
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

test("X7: an event logger hears nobody who was sent to another's port", async () => {
  const heard: number[] = [];
  const dropped: string[] = [];
  const reception = new Reception({
    job: testJob,
    service: ServiceCode.LOGGER,
    place: { address: "127.0.0.1", port: 0 },
    namesPort: true,
    received: ({ hello: { wanted }, socket, answer }) => {
      heard.push(wanted);
      const welcome: CallAnswer = { verdict: CallVerdict.WELCOME, incarnation: 0, generation: 0 };
      socket.end(answer(welcome), () => socket.destroy());
    },
    dropped: (reason) => dropped.push(reason),
  });
  const listening = await reception.listen();
  assert.ok(listening.ok);
  for (const wanted of [listening.port, listening.port - 1]) {
    const what: Hello = { ...hello, service: ServiceCode.LOGGER, wanted };
    await stranger(listening.port, (socket, challenge) => socket.write(helloTo(challenge, testJob, what)));
  }
  assert.deepEqual([heard, dropped], [[listening.port], ["a hello for another port"]]);
  reception.close();
});
