import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../core/base/testing/properties.ts";
import { ArrivingImage } from "./arriving-image.ts";
import { ImageEncoder, type Piece } from "./encoder.ts";
import { ImageError } from "./image-error.ts";
import { pageBytes } from "./kernel.ts";
import { PageStage } from "./page-stage.ts";
import { bytesOf, copied, facts, fillPage, joined, newMemory } from "./testing/memory.ts";

const state = Uint8Array.of(1, 2, 3, 4, 5);
const wasmPages = 33;
const pages = wasmPages * 16;

/** Rounds of changes, as a stream; and the memory in the end. */
function streamOf(rounds: readonly (readonly { page: number; value: number }[])[]): {
  stream: Uint8Array;
  memory: WebAssembly.Memory;
} {
  const memory = newMemory(wasmPages);
  const stage = new PageStage({ memory, seed: 7n, books: 1 });
  const encoder = new ImageEncoder({ stage, book: 0, base: null, codec: null });
  const pieces: Piece[] = [...copied([encoder.start()])];
  for (const changes of rounds) {
    for (const { page, value } of changes) fillPage(memory, page, value);
    pieces.push(...copied(encoder.round([[0, memory.buffer.byteLength]])));
  }
  pieces.push(...copied([encoder.end(facts, state)]));
  return { stream: joined(pieces), memory };
}

/** In pieces of so many bytes at most. */
function arrive(stream: Uint8Array, most: number): { image: ArrivingImage; memory: WebAssembly.Memory; at: number } {
  const memory = newMemory(wasmPages);
  const image = new ArrivingImage(memory);
  let at = 0;
  for (let place = image.wanted; place !== null && at < stream.length; place = image.wanted) {
    const piece = stream.subarray(at, at + Math.min(most, place.length));
    place.set(piece);
    at += piece.length;
    image.took(piece.length);
  }
  return { image, memory, at };
}

const change = fc.record({ page: fc.nat(pages - 1), value: fc.nat(6) });
const some = fc.array(fc.array(change, { maxLength: 40 }), { minLength: 1, maxLength: 4 });

test("D2 an image that comes in pieces of any size, round after round, is the memory that was left", () => {
  fc.assert(
    fc.property(some, fc.integer({ min: 1, max: 300_000 }), (rounds, most) => {
      const { stream, memory } = streamOf(rounds);
      const { image, memory: back, at } = arrive(stream, Math.max(most, 64));
      assert.equal(at, stream.length);
      assert.equal(image.wanted, null);
      assert.equal(image.bytes, stream.length);
      assert.deepEqual(image.contents.state, state);
      assert.deepEqual(image.contents.header, { ...facts, format: 1, memoryBytes: wasmPages * 65_536 });
      assert(Buffer.compare(bytesOf(memory), bytesOf(back)) === 0, "the memories are equal");
    }),
    { numRuns: 30 },
  );
});

test("D2 an image that ends too early is never complete, and whatever is changed on its way is noticed", () => {
  const { stream } = streamOf([[{ page: 3, value: 2 }], [{ page: 3, value: 5 }]]);
  assert.notEqual(arrive(stream.subarray(0, stream.length - 1), pageBytes).image.wanted, null);
  for (let at = 0; at < stream.length; at += 13) {
    const wrong = Uint8Array.from(stream);
    wrong[at]! ^= 4;
    let seen: unknown;
    try {
      const { image } = arrive(wrong, pageBytes);
      if (image.wanted === null) void image.contents;
      else seen = "incomplete";
    } catch (error) {
      seen = error;
    }
    assert(seen === "incomplete" || seen instanceof ImageError, `byte ${at}: ${String(seen)}`);
  }
});
