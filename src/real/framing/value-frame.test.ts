import assert from "node:assert/strict";
import { test } from "node:test";
import { serialize } from "node:v8";
import { ByteQueue } from "./byte-queue.ts";
import { type DecodedValue, encodeValue, ValueReader } from "./value-frame.ts";

const bounds = { short: 64, long: 1 << 20 };
type Kind = keyof typeof bounds;

function frameOf(message: { readonly kind: Kind; readonly [field: string]: unknown }): Buffer {
  const encoded = encodeValue<Kind>(bounds, message);
  assert(encoded.ok);
  return encoded.frame;
}

/** What a reader makes of these chunks, one after the other. */
function read(chunks: readonly Buffer[]): DecodedValue[] {
  const queue = new ByteQueue();
  const reader = new ValueReader(queue, bounds);
  const all: DecodedValue[] = [];
  for (const chunk of chunks) {
    queue.push(chunk);
    for (let next = reader.next(); next.state !== "more"; next = reader.next()) {
      all.push(next);
      if (next.state === "bad") return all;
    }
  }
  return all;
}

const header = (bytes: number, kind: number): Buffer => {
  const words = Buffer.alloc(8);
  words.writeUInt32LE(bytes, 0);
  words.writeUInt32LE(kind, 4);
  return words;
};

test("rule 7: values of every type cross a control link as they are", () => {
  const message = {
    kind: "long" as const,
    nothing: null,
    absent: undefined,
    number: -0.5,
    big: 2n ** 70n,
    bytes: new Uint8Array([1, 2, 3]).subarray(1),
    words: Int32Array.of(-1, 1),
    map: new Map([["a", [1, 2]]]),
    text: "Größe 🌳",
  };
  const [decoded] = read([frameOf(message)]);
  assert(decoded?.state === "whole");
  assert.equal(decoded.kind, "long");
  assert.deepEqual(decoded.value, message);
});

test("rule 7: frames come out whole, however the bytes were cut", () => {
  const messages = [
    { kind: "short" as const },
    { kind: "long" as const, bytes: Buffer.alloc(5000, 7) },
    { kind: "short" as const, n: 1 },
  ];
  const bytes = Buffer.concat(messages.map(frameOf));
  for (const piece of [1, 3, 7, 8, 9, 1000, bytes.length]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / piece) }, (_, i) =>
      bytes.subarray(i * piece, (i + 1) * piece),
    );
    const values = read(chunks).map((decoded) => (decoded.state === "whole" ? decoded.value : decoded));
    assert.deepEqual(values, messages, `in pieces of ${piece}`);
  }
});

test("X7: a length above the bound of its kind is refused before a byte of the body has come", () => {
  assert.deepEqual(read([header(65, 0)]), [
    { state: "bad", problem: 'a message "short" of 65 bytes, and 64 are allowed' },
  ]);
  assert.deepEqual(read([header(0xffffffff, 1)]), [
    { state: "bad", problem: 'a message "long" of 4294967295 bytes, and 1048576 are allowed' },
  ]);
  assert.deepEqual(read([header(64, 0)]), []);
});

test("X7: a kind that there is not, and a body that is no value, are refused", () => {
  assert.deepEqual(read([header(0, 2)]), [{ state: "bad", problem: "a message of kind 2, which there is not" }]);
  assert.deepEqual(read([header(0, 0)]), [{ state: "bad", problem: 'a message "short" that is no value' }]);
  assert.deepEqual(read([Buffer.concat([header(3, 0), Buffer.from("abc")])]), [
    { state: "bad", problem: 'a message "short" that is no value' },
  ]);
  const cut = serialize({ kind: "short" }).subarray(0, -2);
  assert.deepEqual(read([Buffer.concat([header(cut.length, 0), cut])]), [
    { state: "bad", problem: 'a message "short" that is no value' },
  ]);
});

test("X7: whoever sends is told that a message is too long for its kind", () => {
  const encoded = encodeValue<Kind>(bounds, { kind: "short", text: "x".repeat(100) } as { kind: Kind });
  assert(!encoded.ok);
  assert.match(encoded.problem, /^a message "short" of 1\d\d bytes, and 64 are allowed$/);
});
