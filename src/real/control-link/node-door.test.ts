/** X7: the dispatcher's door. Whoever is not invited is sent away and counted, and nobody inside notices. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { afterEach, type TestContext, test } from "node:test";
import { call } from "../transport/handshake/call.ts";
import {
  type CallAnswer,
  CallVerdict,
  challengeBytes,
  helloBytes,
  ServiceCode,
} from "../transport/handshake/handshake.ts";
import { helloMsMax, strangersMax } from "../transport/handshake/reception.ts";
import { callDispatcher } from "./call-dispatcher.ts";
import type { Invitation } from "./invitation.ts";
import type { NodeDoor } from "./node-door.ts";
import { connected, openDoor, testJob } from "./testing/link.ts";

const strangers = new Set<Socket>();
afterEach(() => {
  for (const socket of strangers) socket.destroy();
  strangers.clear();
});

/** A connection to the door; fulfilled when the challenge has come. */
async function stranger({ host, port }: Invitation): Promise<Socket> {
  const socket = connect(port, host);
  socket.on("error", () => {});
  strangers.add(socket);
  let got = 0;
  socket.on("data", (chunk) => {
    got += chunk.length;
  });
  while (got < challengeBytes) await once(socket, "data");
  return socket;
}

const closed = (socket: Socket): Promise<unknown> => (socket.closed ? Promise.resolve() : once(socket, "close"));

test("X7: an invitation is good for one connection", async (t) => {
  const door = openDoor(t);
  const { invitation } = await connected(t, door);
  const again = await callDispatcher(invitation);
  assert(!again.ok);
  assert.deepEqual([again.failure, again.why], ["gone", "the invitation is not good any more"]);
  assert.equal(door.strangers, 1);
});

test("X7: whoever guesses a number, has another job's secret, or was taken off the list, is sent away", async (t) => {
  const door = openDoor(t);
  const { invitation } = await connected(t, door);
  const { invitation: other, withdraw } = door.invite(() => assert.fail("nobody is invited"));
  withdraw();
  assert.equal((await callDispatcher((await other)!)).ok, false);
  assert.equal((await callDispatcher({ ...invitation, number: 99 })).ok, false);
  assert.equal(door.strangers, 2);
  const wrongs = [{ secret: Uint8Array.from(randomBytes(32)) }, { jobId: "another" }];
  for (const wrong of wrongs) {
    const socket = await stranger(invitation);
    socket.write(Buffer.from(JSON.stringify({ ...invitation, ...wrong })).subarray(0, helloBytes));
    await closed(socket);
  }
  assert.equal(door.strangers, 4);
});

test("X7: noise, floods and requests of other languages are sent away, and the invited get in meanwhile", async (t) => {
  const door = openDoor(t);
  const first = await connected(t, door);
  const noise = [
    randomBytes(helloBytes),
    randomBytes(1 << 20),
    Buffer.from(`GET / HTTP/1.1\r\n${"x".repeat(100)}\r\n`),
  ];
  const sockets = await Promise.all(noise.map(() => stranger(first.invitation)));
  for (const [i, socket] of sockets.entries()) socket.write(noise[i]!);
  const second = await connected(t, door);
  await Promise.all(sockets.map(closed));
  assert.equal(door.strangers, noise.length);
  assert(!first.inner.socket.destroyed && !second.inner.socket.destroyed);
});

test("X7: more strangers at once than the door has room for: those who have waited longest go, and the invited get in", async (t) => {
  const door = openDoor(t);
  const { invitation } = await connected(t, door);
  const crowd = await Promise.all(Array.from({ length: 2 * strangersMax }, () => stranger(invitation)));
  const gone = crowd.slice(0, strangersMax).map(closed);
  await connected(t, door);
  await Promise.all(gone);
  assert(door.strangers >= strangersMax, `${door.strangers}`);
});

test("X7: whoever says hello a byte at a time has the time that a hello has, and no more", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const door = openDoor(t);
  const { invitation } = await connected(t, door);
  const socket = await stranger(invitation);
  for (let i = 0; i < 10; i++) {
    socket.write(Buffer.of(i));
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.mock.timers.tick(helloMsMax - 1);
  assert(!socket.closed);
  t.mock.timers.tick(1);
  await closed(socket);
  assert.equal(door.strangers, 1);
});

test("X7: a node that is not let in because strangers crowd the door calls again", async (t) => {
  const door = openDoor(t);
  const { invitation } = await connected(t, door);
  let calls = 0;
  // In front of the door, it hangs up on whoever calls first.
  const proxy = createServer((socket) => {
    socket.on("error", () => {});
    if (++calls === 1) socket.destroy();
    else socket.pipe(connect(invitation.port, invitation.host)).pipe(socket);
  });
  t.after(() => proxy.close());
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  const { port } = proxy.address() as { port: number };
  const { invitation: other } = door.invite((socket) => t.after(() => socket.destroy()));
  const called = await callDispatcher({ ...(await other)!, port });
  assert(called.ok);
  assert.equal(calls, 2);
  called.socket.destroy();
});

test("X7: a node whose dispatcher is gone knows it at once", async (t) => {
  const door = openDoor(t);
  const { invitation } = await connected(t, door);
  door.close();
  const called = await callDispatcher(invitation);
  assert(!called.ok);
  assert.equal(called.failure, "gone");
});

/** A door at which processes may join, and what it says of them. */
function joinable(t: TestContext): { readonly door: NodeDoor; readonly said: string[] } {
  const said: string[] = [];
  let numbers = 0;
  const door = openDoor(t, {
    port: 0,
    called: (had) => {
      said.push(`called, had ${had}`);
      return had === 0 ? ++numbers : null;
    },
    came: (number, socket, { pid }) => {
      t.after(() => socket.destroy());
      said.push(`${number} came${pid === process.pid ? "" : " from nowhere"}`);
    },
    unlike: () => said.push("of another build"),
    unproven: (address) => said.push(`without the secret, at ${address}`),
  });
  return { door, said };
}

async function offerTo(door: NodeDoor): Promise<Invitation> {
  const port = await door.port;
  assert(port !== null);
  return { host: "127.0.0.1", port, jobId: testJob.id, secret: testJob.secret, number: 0, had: 0 };
}

test("V9: whoever knows the secret may join, each as a new one; nobody comes back under the number that it had", async (t) => {
  const { door, said } = joinable(t);
  const offer = await offerTo(door);
  for (const number of [1, 2]) {
    const called = await callDispatcher(offer);
    assert(called.ok);
    t.after(() => called.socket.destroy());
    assert.equal(called.number, number);
  }
  const back = await callDispatcher({ ...offer, had: 2 });
  assert(!back.ok);
  assert.deepEqual([back.failure, back.why], ["refused", "it does not know this node any more"]);
  assert.deepEqual(said, ["called, had 0", "1 came", "called, had 0", "2 came", "called, had 2"]);
});

test("V9 X7: a node with a wrong secret is shut out, and both sides have a line for it", async (t) => {
  const { door, said } = joinable(t);
  const called = await callDispatcher({ ...(await offerTo(door)), secret: Uint8Array.from(randomBytes(32)) });
  assert(!called.ok);
  assert.match(called.why, /^it does not accept the secret of this node; use the secret file of that job$/);
  assert.deepEqual([...new Set(said)], ["without the secret, at 127.0.0.1"]);
});

test("X7: where nodes cannot join, one that offers itself is a stranger", async (t) => {
  const door = openDoor(t);
  assert.equal((await callDispatcher(await offerTo(door))).ok, false);
  assert(door.strangers > 0);
});

test("V9: a process of another build is told so and sent away, before any message", async (t) => {
  const { door, said } = joinable(t);
  const { host, port } = await offerTo(door);
  const hello = { service: ServiceCode.JOIN, from: 0, to: process.pid, incarnation: 0, wanted: 1, generation: 1 };
  const answer = await new Promise<CallAnswer | null>((resolve) => {
    const socket = call({ host, port, job: testJob, hello }, resolve);
    t.after(() => socket.destroy());
  });
  assert.equal(answer?.verdict, CallVerdict.UNLIKE);
  assert.deepEqual(said, ["of another build"]);
});
