/** Two ends of a control link over real sockets: what they tell each other, and how a link ends. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { bytes, kind, object, whole } from "../../core/base/value-shape.ts";
import { encodeValue } from "../framing/value-frame.ts";
import { type Connected, connected, TestEnd } from "./testing/link.ts";

interface Count {
  readonly kind: "count";
  readonly n: number;
}
interface Load {
  readonly kind: "load";
  readonly bytes: Uint8Array;
}
type Message = Count | Load;

const bounds = { count: 1000, load: 2 << 20 };
const shapes = {
  count: object<Count>({ kind: kind("count"), n: whole(0, 1_000_000) }),
  load: object<Load>({ kind: kind("load"), bytes }),
};
const tables = { sends: bounds, hears: bounds };

const ends = ({ inner, outer }: Connected) => ({
  dispatcher: new TestEnd<Message, Message>({ ...inner, ...tables }),
  node: new TestEnd<Message, Message>({ ...outer, ...tables }),
});

function frameOf(message: object): Buffer {
  const encoded = encodeValue<string>(bounds, message as Message);
  assert(encoded.ok);
  return encoded.frame;
}

test("rule 7: messages cross a link in both directions, in order, and it ends when one side has nothing more to say", async (t) => {
  const connection = await connected(t);
  const { dispatcher, node } = ends(connection);
  node.link.expect(shapes);
  for (let n = 0; n < 1000; n++) dispatcher.link.send({ kind: "count", n });
  dispatcher.link.expect(shapes);
  node.link.send({ kind: "load", bytes: new Uint8Array(1 << 20).fill(5) });
  await Promise.all([node.has(1000), dispatcher.has(1)]);
  assert.deepEqual(
    node.heard.map((message) => message.kind === "count" && message.n),
    Array.from({ length: 1000 }, (_, n) => n),
  );
  node.link.send({ kind: "count", n: 7 });
  node.link.end();
  assert.equal((await dispatcher.closed).kind, "lost");
  assert.equal((await node.closed).kind, "lost");
  assert.deepEqual(dispatcher.heard.at(-1), { kind: "count", n: 7 });
  assert(!dispatcher.link.isOpen && !node.link.isOpen);
});

const wrongs: Record<string, { readonly frame: Buffer; readonly why: RegExp }> = {
  "a value out of its range": {
    frame: frameOf({ kind: "count", n: -1 }),
    why: /^it sent a message "count" that is wrong: the message \.n is no whole number from 0 to 1000000$/,
  },
  "a message that calls itself another": {
    frame: Buffer.concat([
      frameOf({ kind: "count", n: 1 }).subarray(0, 4),
      Buffer.of(1, 0, 0, 0),
      frameOf({ kind: "count", n: 1 }).subarray(8),
    ]),
    why: /^it sent a message "load" that is wrong: the message \.kind is none of load$/,
  },
  "a length beyond the bound": {
    frame: Buffer.of(255, 255, 255, 255, 0, 0, 0, 0),
    why: /^it sent a message "count" of 4294967295 bytes, and 1000 are allowed$/,
  },
  "a kind that there is not": {
    frame: Buffer.alloc(8, 9),
    why: /^it sent a message of kind 151587081, which there is not$/,
  },
};
for (const [what, { frame, why }] of Object.entries(wrongs)) {
  test(`X7: ${what} ends the link; what came before is heard, what comes behind is not`, async (t) => {
    const connection = await connected(t);
    const dispatcher = new TestEnd<Message, Message>({ ...connection.inner, ...tables });
    dispatcher.link.expect(shapes);
    const good = frameOf({ kind: "count", n: 1 });
    connection.outer.socket.resume().write(Buffer.concat([good, frame, good]));
    const end = await dispatcher.closed;
    assert.equal(end.kind, "cut");
    assert.match(end.why, why);
    assert.equal(dispatcher.heard.length, 1);
  });
}

test("X7: a message that may not come now ends the link", async (t) => {
  const connection = await connected(t);
  const { dispatcher, node } = ends(connection);
  dispatcher.link.expect({ count: shapes.count });
  node.link.expect({});
  node.link.send({ kind: "load", bytes: new Uint8Array(3) });
  assert.deepEqual(await dispatcher.closed, { kind: "cut", why: 'it sent "load" when it may not' });
  assert.equal((await node.closed).kind, "lost");
});

test("X2: the last words of a side that was killed are heard, though writing to it fails first", async (t) => {
  const connection = await connected(t);
  const { dispatcher } = ends(connection);
  const { socket } = connection.outer;
  // In one piece, so that all of it is with the receiver's system when the sender dies.
  const words = Buffer.concat(Array.from({ length: 101 }, (_, n) => frameOf({ kind: "count", n })));
  await new Promise<void>((resolve) => socket.write(words, () => resolve()));
  // As the system does for a process that has not read everything.
  socket.resetAndDestroy();
  await once(socket, "close");
  dispatcher.link.expect(shapes);
  dispatcher.link.send({ kind: "count", n: 0 });
  assert.equal((await dispatcher.closed).kind, "lost");
  assert.equal(dispatcher.heard.length, 101);
});

test("X7: a message that is too long is not sent, the sender is told, and the link goes on", async (t) => {
  const connection = await connected(t);
  const { dispatcher, node } = ends(connection);
  node.link.expect(shapes);
  dispatcher.link.expect({});
  dispatcher.link.send({ kind: "load", bytes: new Uint8Array(3 << 20) });
  assert.match(dispatcher.unsendable[0] ?? "", /^a message "load" of 31\d+ bytes, and 2097152 are allowed$/);
  dispatcher.link.send({ kind: "count", n: 1 });
  await node.has(1);
  assert.deepEqual(node.heard, [{ kind: "count", n: 1 }]);
  node.link.end();
  await dispatcher.closed;
});

test("X7: a sender of much waits for the reader, and one that does not is cut off before memory is full", async (t) => {
  const connection = await connected(t);
  const { dispatcher, node } = ends(connection);
  const load: Load = { kind: "load", bytes: new Uint8Array(1 << 20) };
  // Nobody reads at the other end yet.
  let unread = 0;
  while (dispatcher.link.isIdle) {
    dispatcher.link.send(load);
    unread++;
  }
  const idle = dispatcher.link.whenIdle();
  node.link.expect(shapes);
  await idle;
  await node.has(unread);
  connection.outer.socket.pause();
  let sent = 0;
  for (; dispatcher.link.isOpen && sent < 1000; sent++) dispatcher.link.send(load);
  assert(sent < 100, `${sent} MiB were taken`);
  const { kind: how, why } = await dispatcher.closed;
  assert.equal(how, "cut");
  assert.match(why, /^it does not read what it is sent, and \d+ bytes wait$/);
  connection.outer.socket.destroy();
});

test("X7: one message may be longer than that: others wait behind it, and nobody is cut off", async (t) => {
  const connection = await connected(t);
  const long = { sends: { ...bounds, load: 1 << 28 }, hears: { ...bounds, load: 1 << 28 } };
  const dispatcher = new TestEnd<Message, Message>({ ...connection.inner, ...long });
  const node = new TestEnd<Message, Message>({ ...connection.outer, ...long });
  dispatcher.link.send({ kind: "load", bytes: new Uint8Array(80 << 20) });
  for (let n = 0; n < 100; n++) dispatcher.link.send({ kind: "count", n });
  assert(dispatcher.link.isOpen);
  node.link.expect(shapes);
  await node.has(101);
  assert.deepEqual(node.heard.at(-1), { kind: "count", n: 99 });
});
