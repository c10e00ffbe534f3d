import { deepEqual, equal, match, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { readRecords, StoreFrames } from "./service-store.ts";

/** Three records, the last of them with many words. */
function written(): Uint8Array {
  const frames = new StoreFrames();
  frames.begin(1, 2, 3);
  frames.finish();
  frames.begin(4, -5, 6);
  frames.put(Int32Array.of(7, 8));
  frames.put(Int32Array.of(9));
  frames.finish();
  frames.begin(10, 11, 12);
  frames.put(Int32Array.from({ length: 5000 }, (_, i) => i));
  frames.finish();
  equal(frames.count, 6 + 9 + 5006);
  const words = frames.take();
  equal(frames.count, 0);
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength).slice();
}

function read(bytes: Uint8Array): { readonly records: number[][]; readonly problem: string } {
  const records: number[][] = [];
  const problem = readRecords([bytes], (record) => {
    records.push([...record]);
    return "";
  });
  return { records, problem };
}

describe("L1 what a service writes down for its successor", () => {
  it("is read as it was written, wherever the bytes lie in memory", () => {
    const bytes = written();
    const { records, problem } = read(bytes);
    equal(problem, "");
    deepEqual(records.slice(0, 2), [
      [1, 2, 3],
      [4, -5, 6, 7, 8, 9],
    ]);
    equal(records[2]?.length, 5003);
    const shifted = new Uint8Array(bytes.length + 1);
    shifted.set(bytes, 1);
    deepEqual(read(shifted.subarray(1)).records, records);
  });

  it("is the same in pieces of any size", () => {
    const bytes = written();
    const { records } = read(bytes);
    for (const size of [1, 3, 4, 7, 24, 25, 1000, 20_000]) {
      const pieces = function* (): Generator<Uint8Array> {
        // As a reader does that has one buffer for all of them.
        const buffer = new Uint8Array(size);
        for (let at = 0; at < bytes.length; at += size) {
          const piece = bytes.subarray(at, at + size);
          buffer.set(piece);
          yield buffer.subarray(0, piece.length);
        }
      };
      const found: number[][] = [];
      const problem = readRecords(pieces(), (record) => {
        found.push([...record]);
        return "";
      });
      equal(problem, "");
      deepEqual(found, records, `pieces of ${size} bytes`);
    }
  });

  it("X7 a writer that was lost in the middle of a record, at any byte, has left the records before it", () => {
    const bytes = written();
    const ends = [24, 24 + 36];
    for (let length = 0; length < ends[1]! + 100; length++) {
      const { records, problem } = read(bytes.subarray(0, length));
      equal(problem, "", `${length} bytes`);
      equal(records.length, ends.filter((end) => end <= length).length, `${length} bytes`);
    }
  });

  it("X7 any bit that is wrong is noticed", () => {
    const bytes = written().subarray(0, 24 + 36);
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      const wrong = bytes.slice();
      wrong[bit >> 3]! ^= 1 << (bit & 7);
      match(read(wrong).problem, /^record [01] at byte (0|24) (has a damaged head|is damaged)$/, `bit ${bit}`);
    }
  });

  it("X7 nor are zeros records, with which a disk may answer", () => {
    match(read(new Uint8Array(12)).problem, /^record 0 at byte 0 has a damaged head$/);
  });

  it("a record that its reader refuses is named, and none behind it is read", () => {
    let count = 0;
    const problem = readRecords([written()], () => (++count === 2 ? "is strange" : ""));
    equal(problem, "record 1 at byte 24 is strange");
    ok(count === 2);
  });
});
