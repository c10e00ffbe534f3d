import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteQueue } from "./byte-queue.ts";
import { type FrameRead, FrameReader, frameHeader } from "./frame.ts";

const bytesMax = [4, 1 << 20];

const frame = (kind: number, body: Uint8Array): Buffer => Buffer.concat([frameHeader(kind, body.length), body]);

/** The results of reading these chunks, one after the other, as far as "more". */
function read(chunks: readonly Buffer[]): FrameRead[] {
  const queue = new ByteQueue();
  const reader = new FrameReader(queue, bytesMax);
  return chunks.flatMap((chunk) => {
    queue.push(chunk);
    const all: FrameRead[] = [];
    for (let next = reader.next(); next.state !== "more"; next = reader.next()) {
      all.push(next);
      if (next.state !== "whole") break;
    }
    return all;
  });
}

test("rule 7: frames come out whole and in order, empty ones too, however the bytes were cut", () => {
  const bodies = [Buffer.from("ab"), Buffer.alloc(0), Buffer.alloc(5000, 7), Buffer.alloc(0)];
  const bytes = Buffer.concat(bodies.map((body, i) => frame(i === 0 ? 0 : 1, body)));
  for (const piece of [1, 3, 7, 8, 9, 1000, bytes.length]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / piece) }, (_, i) =>
      bytes.subarray(i * piece, (i + 1) * piece),
    );
    const wanted = bodies.map((body, i) => ({ state: "whole", kind: i === 0 ? 0 : 1, body: body.toString("hex") }));
    const got = read(chunks).map((one) => (one.state === "whole" ? { ...one, body: one.body.toString("hex") } : one));
    assert.deepEqual(got, wanted, `in pieces of ${piece}`);
  }
});

test("X7: a length above the bound of its kind is refused before a byte of the body has come", () => {
  assert.deepEqual(read([frameHeader(0, 5)]), [{ state: "too long", kind: 0, bytes: 5 }]);
  assert.deepEqual(read([frameHeader(1, 0xffffffff)]), [{ state: "too long", kind: 1, bytes: 0xffffffff }]);
  assert.deepEqual(read([frameHeader(0, 4)]), []);
});

test("X7: an unknown kind is refused, and nothing behind a wrong frame is read", () => {
  assert.deepEqual(read([frameHeader(2, 0)]), [{ state: "unknown", kind: 2 }]);
  const after = [frameHeader(2, 0), frame(0, Buffer.from("good"))];
  assert.deepEqual(read(after), [
    { state: "unknown", kind: 2 },
    { state: "unknown", kind: 2 },
  ]);
});
