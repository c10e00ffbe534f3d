import assert from "node:assert/strict";
import { test } from "node:test";
import { createLineRing, LineReader, LineWriter } from "./line-ring.ts";

const bell = new Int32Array(new SharedArrayBuffer(4));

test("X2: bytes come out as they went in, at every position of the ring, with their line numbers", () => {
  const ring = createLineRing(64);
  const writer = new LineWriter(ring, bell);
  const reader = new LineReader(ring);
  let lines = 0;
  for (let round = 0; round < 200; round++) {
    const text = `${"x".repeat(round % 23)}\n`;
    writer.write("stdout", Buffer.from(text));
    const chunk = reader.read()!;
    assert.deepEqual(
      { ...chunk, bytes: chunk.bytes.toString() },
      { stream: "stdout", number: lines, offset: 0, bytes: text, flush: false },
    );
    lines++;
    assert.equal(reader.read(), undefined);
  }
});

test("X2: records of one stream come together, those of the other apart, each stream with its own numbers", () => {
  const ring = createLineRing(1024);
  const writer = new LineWriter(ring, bell);
  const reader = new LineReader(ring);
  writer.write("stdout", Buffer.from("a\nb"));
  writer.write("stdout", Buffer.from("c\nd"));
  writer.write("stderr", Buffer.from("e\n"));
  writer.write("stdout", Buffer.from("f\n"));
  writer.flush("stdout");
  writer.write("stdout", Buffer.from("g"));
  const chunks = [];
  for (let chunk = reader.read(); chunk !== undefined; chunk = reader.read()) {
    chunks.push([chunk.stream, chunk.number, chunk.offset, chunk.bytes.toString(), chunk.flush]);
  }
  assert.deepEqual(chunks, [
    ["stdout", 0, 0, "a\nbc\nd", false],
    ["stderr", 0, 0, "e\n", false],
    ["stdout", 2, 1, "f\n", true],
    ["stdout", 3, 0, "g", false],
  ]);
});

test("X2: positions wrap at 2^32", () => {
  const ring = createLineRing(64);
  new Int32Array(ring, 0, 2).fill(-8);
  const writer = new LineWriter(ring, bell);
  const reader = new LineReader(ring);
  for (let round = 0; round < 8; round++) {
    writer.write("stderr", Buffer.from("over the edge\n"));
    assert.equal(reader.read()!.bytes.toString(), "over the edge\n");
  }
});
