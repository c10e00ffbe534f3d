import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { SeededRandom } from "../../base/seeded-random.ts";
import { bytesBehind, copyFewBytes, FrameWriter, fewBytes, frameHeadWords, WordFrameReader } from "./frames.ts";

const facts = 4;

/** The words of frames with so many bytes each, all of which are the frame's number. */
function wordsOf(sizes: readonly number[]): Int32Array {
  const words: number[] = [];
  const append = (from: Int32Array, first: number, end: number): number => {
    for (let at = first; at < end; at++) words.push(from[at]!);
    return end - first;
  };
  const writer = new FrameWriter({ append });
  for (const [number, bytes] of sizes.entries()) {
    if (number % 3 === 0) writer.put(1, [number]);
    const said = new Uint8Array(bytes + 4).fill(number, 4);
    if (bytes <= fewBytes && number % 2 === 1) writer.putFewBytes(2, [number, bytes, 0, 0], said, 4, bytes);
    else writer.putBytes(2, [number, bytes, 0, 0], said.subarray(4));
  }
  return Int32Array.from(words);
}

describe("V1 frames", () => {
  it("begin at even words, and so do their bytes", () => {
    const words = wordsOf([1, 5, 4096, 4099, 0, 70_000]);
    const reader = new WordFrameReader();
    reader.feed(words, 0, words.length);
    let count = 0;
    for (let frame = reader.peek(); frame !== null; frame = reader.peek()) {
      equal(frame.byteOffset % 8, 0);
      count++;
      reader.drop();
    }
    equal(count, 8);
    equal(reader.pending, 0, "no filler is left");
  });

  it("are the same when their bytes are written to the reader's memory in parts of any size, and those that are kept do not change", () => {
    for (let seed = 1; seed <= 20; seed++) {
      const random = new SeededRandom(seed);
      const sizes = Array.from({ length: 60 }, () =>
        random.bits() % 3 === 0 ? random.bits() % 20_000 : random.bits() % 50,
      );
      const said = new Uint8Array(wordsOf(sizes).buffer);
      const reader = new WordFrameReader();
      const kept: { readonly number: number; readonly bytes: Uint8Array }[] = [];
      const heard: number[] = [];
      const stretch = { memory: said, at: 0, bytes: 0 };
      // As a connection has it: a part of a word waits at its place.
      for (let at = 0, part = 0; at < said.length; ) {
        reader.place(1 + (random.bits() % 9000), stretch);
        const count = Math.min(stretch.bytes - part, said.length - at, 1 + (random.bits() % 12_000));
        stretch.memory.set(said.subarray(at, at + count), stretch.at + part);
        at += count;
        part += count;
        reader.placed(part >> 2);
        part &= 3;
        for (let frame = reader.peek(); frame !== null; frame = reader.peek()) {
          if (frame[1] === 2) {
            const [number, bytes] = [frame[frameHeadWords]!, frame[frameHeadWords + 1]!];
            heard.push(bytes);
            ok(bytesBehind(frame, facts, bytes).every((byte) => byte === number));
            if (bytes > 1000) {
              reader.keep();
              kept.push({ number, bytes: bytesBehind(frame, facts, bytes) });
            }
          }
          reader.drop();
        }
        equal(reader.isBroken, false);
      }
      deepEqual(heard, sizes, `seed ${seed}`);
      for (const { number, bytes } of kept) ok(bytes.every((byte) => byte === number));
    }
  });

  it("have the same bytes, whether few or many are copied, and nothing behind them", () => {
    for (let bytes = 0; bytes <= fewBytes; bytes++) {
      const said = Uint8Array.from({ length: bytes }, (_, i) => 255 - i);
      const both = [false, true].map((isFew) => {
        const words: number[] = [];
        const append = (from: Int32Array, first: number, end: number): number =>
          words.push(...from.subarray(first, end)) && end - first;
        const writer = new FrameWriter({ append });
        // What stood in the stage before is in no later frame.
        writer.putBytes(1, [], new Uint8Array(200).fill(99));
        if (isFew) writer.putFewBytes(2, [bytes, 0, 0, 0], said, 0, bytes);
        else writer.putBytes(2, [bytes, 0, 0, 0], said);
        return words;
      });
      deepEqual(both[0], both[1]);
      const reader = new WordFrameReader();
      reader.feed(Int32Array.from(both[0]!), 0, both[0]!.length);
      reader.peek();
      reader.drop();
      const into = new Uint8Array(bytes + 2);
      copyFewBytes(reader.peek()!, frameHeadWords + facts, into, 1, bytes);
      deepEqual([...into], [0, ...said, 0]);
    }
  });

  it("that come one after the other to the same place are each what was said", () => {
    const reader = new WordFrameReader();
    for (let number = 0; number < 300; number++) {
      // Mostly of the same length, and now and then of one for which the reader needs more room.
      const bytes = number % 50 === 49 ? 40 * number : number % 7 === 0 ? 12 : 8;
      const words: number[] = [];
      const append = (from: Int32Array, first: number, end: number): number =>
        words.push(...from.subarray(first, end)) && end - first;
      new FrameWriter({ append }).putBytes(2, [number, bytes, 0, 0], new Uint8Array(bytes).fill(number));
      const place = reader.placeOfWords(words.length);
      place.set(words);
      reader.placed(words.length);
      const frame = reader.peek()!;
      equal(frame[frameHeadWords], number);
      ok(bytesBehind(frame, facts, bytes).every((byte) => byte === (number & 255)));
      reader.drop();
      equal(reader.peek(), null);
    }
  });
});
