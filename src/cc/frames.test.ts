import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { it } from "node:test";
import { readMessage, requestBounds, writeMessage } from "./frames.ts";

/** A stream that returns its own bytes. */
const loop = (): Socket => new PassThrough() as unknown as Socket;

it("M6 a message arrives as it was sent, in however many pieces", async () => {
  const message = { kind: "link" as const, words: ["-r"], files: [{ name: "ä.o", bytes: Buffer.alloc(70_000, 7) }] };
  const whole = loop();
  writeMessage(whole, requestBounds, message);
  whole.end();
  const bytes = Buffer.concat(await whole.toArray());
  for (const size of [1, 3, 4, 5, 4096, bytes.length]) {
    const pieces = loop();
    const read = readMessage(pieces, requestBounds);
    for (let at = 0; at < bytes.length; at += size) pieces.write(bytes.subarray(at, at + size));
    assert.deepEqual(JSON.stringify(await read), JSON.stringify(message), `in pieces of ${size}`);
  }
});

it("M6 a stream that ends early, or speaks another language, is no message", async () => {
  const early = loop();
  const first = readMessage(early, requestBounds);
  early.end(Buffer.from([9, 0, 0, 0, 0, 0, 0, 0, 1]));
  assert.equal(await first, undefined);
  for (const bytes of ["GET / HTTP/1.1\r\n\r\n", "\u0004\0\0\0\0\0\0\0nope", "\xff\xff\xff\xff\0\0\0\0"]) {
    const other = loop();
    const read = readMessage(other, requestBounds);
    other.write(Buffer.from(bytes, "latin1"));
    assert.equal(await read, undefined, JSON.stringify(bytes));
  }
});
