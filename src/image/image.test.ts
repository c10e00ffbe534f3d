import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../core/base/testing/properties.ts";
import type { Piece } from "./encoder.ts";
import { ImageError } from "./image-error.ts";
import { pageBytes } from "./kernel.ts";
import type { MemoryRange } from "./ranges.ts";
import { viewOf } from "./record.ts";
import { bytesOf, copied, facts, fillPage, joined, newMemory, newTestEncoder, restore } from "./testing/memory.ts";

const state = Uint8Array.of(1, 2, 3, 4, 5);

/** One round, the program standing still. */
function imageOf(memory: WebAssembly.Memory, ranges: readonly MemoryRange[] = [[0, memory.buffer.byteLength]]) {
  const encoder = newTestEncoder(memory);
  return joined([encoder.start(), ...copied(encoder.round(ranges)), encoder.end(facts, state)]);
}

function assertSame(memory: WebAssembly.Memory, other: WebAssembly.Memory): void {
  assert(Buffer.compare(bytesOf(memory), bytesOf(other)) === 0, "the memories are equal");
}

test("M6: image of an empty memory has no pages and comes back with header and state", () => {
  const file = imageOf(newMemory());
  assert(file.length < 1000, `${file.length} bytes`);
  const memory = newMemory();
  const { header, state: back } = restore(file, memory, { program: facts.program, layout: 7, rank: 2, ranks: 4 });
  assert.deepEqual(header, { ...facts, format: 1, memoryBytes: 65_536 });
  assert.deepEqual(back, state);
  assertSame(memory, newMemory());
});

test("M6: image holds only pages that are not zero, and packs what compresses", () => {
  const memory = newMemory(32);
  fillPage(memory, 3, 2);
  assert(imageOf(memory).length < pageBytes + 1000);
  for (let page = 0; page < 512; page++) fillPage(memory, page, 1);
  assert(imageOf(memory).length < 20_000);
});

test("M6: image holds only the ranges: the rest is zero after a restore", () => {
  const memory = newMemory(32);
  for (let page = 0; page < 512; page++) fillPage(memory, page, 2 * page + 2);
  const back = newMemory(32);
  const end = memory.buffer.byteLength;
  const above = 300 * pageBytes;
  restore(
    imageOf(memory, [
      [0, 5 * pageBytes],
      [above, end],
    ]),
    back,
  );
  bytesOf(memory).fill(0, 5 * pageBytes, above);
  assertSame(back, memory);
});

/** Changes that a program makes between two rounds: pages and their new contents. The memory ends with a short chunk. */
const wasmPages = 33;
const pages = wasmPages * 16;
const change = fc.record({ page: fc.nat(pages - 1), value: fc.nat(6) });
const round = fc.record({
  changes: fc.array(change, { maxLength: 40 }),
  breakPage: fc.nat(pages),
  limitPage: fc.nat(pages),
});

test("M6: image round trip: random pages, zeros, changes between rounds, ranges that move", () => {
  fc.assert(
    fc.property(fc.array(round, { minLength: 1, maxLength: 5 }), (rounds) => {
      const memory = newMemory(wasmPages);
      const encoder = newTestEncoder(memory);
      const pieces: Piece[] = [...copied([encoder.start()])];
      let kept: readonly MemoryRange[] = [];
      for (const { changes, breakPage, limitPage } of rounds) {
        for (const { page, value } of changes) fillPage(memory, page, value);
        kept = [
          [0, breakPage * pageBytes],
          [Math.max(breakPage, limitPage) * pageBytes, memory.buffer.byteLength],
        ];
        pieces.push(...copied(encoder.round(kept)));
      }
      pieces.push(encoder.end(facts, state));
      const file = joined(pieces);
      assert.equal(encoder.progress.fileBytes, file.length);
      const back = newMemory(wasmPages);
      assert.deepEqual(restore(file, back).state, state);
      bytesOf(memory).fill(0, kept[0]![1], kept[1]![0]);
      assertSame(back, memory);
    }),
    { numRuns: 60 },
  );
});

test("M6: image round writes only what changed since the one before, and forgets pages that became zero", () => {
  const memory = newMemory(32);
  const ranges: MemoryRange[] = [[0, memory.buffer.byteLength]];
  const encoder = newTestEncoder(memory);
  encoder.start();
  const run = (): { pages: number; zeroed: number } => {
    const before = encoder.progress;
    joined(encoder.round(ranges));
    return { pages: encoder.progress.pages - before.pages, zeroed: encoder.progress.zeroed - before.zeroed };
  };
  for (let page = 0; page < 300; page++) fillPage(memory, page, 2);
  assert.deepEqual(run(), { pages: 300, zeroed: 0 });
  assert.deepEqual(run(), { pages: 0, zeroed: 0 });
  bytesOf(memory)[17 * pageBytes + 4095]! ^= 1;
  fillPage(memory, 299, 0);
  assert.deepEqual(run(), { pages: 1, zeroed: 1 });
  assert.deepEqual(run(), { pages: 0, zeroed: 0 });
});

function smallImage(): Uint8Array {
  const memory = newMemory();
  fillPage(memory, 1, 2);
  fillPage(memory, 4, 3);
  return imageOf(memory);
}

test("M6: image that was cut off anywhere is refused", () => {
  const file = smallImage();
  for (let length = 0; length < file.length; length++) {
    assert.throws(() => restore(file.subarray(0, length), newMemory()), ImageError, `${length} bytes`);
  }
  const longer = new Uint8Array(file.length + 1);
  longer.set(file);
  assert.throws(() => restore(longer, newMemory()), ImageError);
});

test("M6: image with any byte changed is refused", () => {
  const file = smallImage();
  for (let at = 0; at < file.length; at++) {
    const mask = 1 << (at % 8);
    file[at]! ^= mask;
    assert.throws(() => restore(file, newMemory()), ImageError, `byte ${at}`);
    file[at]! ^= mask;
  }
  restore(file, newMemory());
});

test("M6: image with a record missing, or one of another image, is refused", () => {
  const memory = newMemory(32);
  for (const page of [0, 256]) fillPage(memory, page, 2);
  const whole = [...parts(memory)];
  const [start, first, second, end] = whole as [Piece, Piece, Piece, Piece];
  restore(joined(whole), newMemory(32));
  fillPage(memory, 0, 4);
  const other = [...parts(memory)][1]!;
  for (const wrong of [
    [start, first, end],
    [start, second, first, end],
    [start, first, first, end],
    [start, other, second, end],
  ]) {
    assert.throws(() => restore(joined(wrong), newMemory(32)), ImageError);
  }
});

function* parts(memory: WebAssembly.Memory): Generator<Piece> {
  const encoder = newTestEncoder(memory);
  yield encoder.start();
  yield* copied(encoder.round([[0, memory.buffer.byteLength]]));
  yield encoder.end(facts, state);
}

test("M6: image says what is wrong and what to do", () => {
  const file = smallImage();
  const says = (bytes: Uint8Array, memory = newMemory(), expected = {}): string => {
    try {
      restore(bytes, memory, expected);
      return "nothing";
    } catch (error) {
      assert(error instanceof ImageError);
      assert(!error.message.includes("\n"));
      return error.message;
    }
  };
  assert.match(says(new TextEncoder().encode("#!/bin/sh, and more")), /does not start like an image/);
  const newer = file.slice();
  viewOf(newer).setUint32(8, 3, true);
  assert.match(says(newer), /written by a newer Banyan \(format 3, this one reads 2\)/);
  assert.match(says(file.subarray(0, 500)), /not complete/);
  assert.match(
    says(file, newMemory(), { program: "fedcba98765432100" }),
    /another program \(0123456789ab…, wanted fed/,
  );
  assert.match(says(file, newMemory(), { layout: 8 }), /layout 7, this Banyan reads 8/);
  assert.match(says(file, newMemory(), { rank: 3 }), /of rank 2 of 4, wanted rank 3 of 4/);
  const damaged = file.slice();
  damaged[130]! ^= 1;
  assert.match(says(damaged), /the chunk at address 0 is damaged \(checksum\)/);
  const large = newMemory(32);
  fillPage(large, 300, 2);
  assert.match(says(imageOf(large), newMemory()), /outside the memory of 65536 bytes/);
});
