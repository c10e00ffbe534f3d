/** A memory that changes while it travels: both ends, without a network between them. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "../../core/base/testing/properties.ts";
import { ImageError } from "../image-error.ts";
import { pageBytes } from "../kernel.ts";
import { keysBytes } from "../page-hash.ts";
import type { MemoryRange } from "../ranges.ts";
import { bytesOf, facts, fillPage, newMemory } from "../testing/memory.ts";
import { ArrivingMemory } from "./arriving-memory.ts";
import { DepartingMemory, type TravelPiece } from "./departing-memory.ts";

const state = Uint8Array.of(1, 2, 3, 4, 5);
const wasmPages = 33;
const pages = wasmPages * 16;
const everything: readonly MemoryRange[] = [[0, pages * pageBytes]];

interface Change {
  readonly page: number;
  readonly value: number;
}

class Travel {
  readonly memory: WebAssembly.Memory;
  readonly room: WebAssembly.Memory;
  readonly departing: DepartingMemory;
  readonly arriving: ArrivingMemory;
  readonly answers: Uint8Array[] = [];
  readonly #most: number;
  /** Bytes on their way may be changed here. */
  spoil = (_bytes: Uint8Array): void => {};

  /** `most`: bytes that arrive together. */
  constructor(most: number, size = wasmPages) {
    this.#most = most;
    this.memory = newMemory(size);
    this.room = newMemory(size);
    this.departing = new DepartingMemory(this.memory, Uint8Array.from(randomBytes(keysBytes)));
    this.arriving = new ArrivingMemory(this.room, (hashes) => this.answers.push(hashes));
    this.carry([this.departing.start()]);
  }

  change(changes: readonly Change[]): void {
    for (const { page, value } of changes) fillPage(this.memory, page, value);
  }

  /** A round; the program changes its memory behind each piece that has been made, and before it leaves. */
  round(ranges: readonly MemoryRange[], meanwhile: readonly Change[] = []): void {
    const left = [...meanwhile];
    for (const piece of this.departing.round(ranges)) {
      this.change(left.splice(0, 1));
      this.carry(piece);
    }
    for (const hashes of this.answers.splice(0)) this.departing.heard(hashes);
    assert(this.departing.isAnswered);
  }

  /** The last round and the end; the program goes on before anything of it has left. */
  end(ranges: readonly MemoryRange[]): Uint8Array {
    const pieces = [...this.departing.last(ranges)];
    pieces.push(this.departing.end(facts, state));
    const left = Uint8Array.from(bytesOf(this.memory));
    for (let page = 0; page < left.length / pageBytes; page += 7) fillPage(this.memory, page, 6);
    for (const piece of pieces) this.carry(piece);
    return left;
  }

  carry(piece: TravelPiece): void {
    for (const part of piece) {
      const bytes = Uint8Array.from(part);
      this.spoil(bytes);
      for (let at = 0; at < bytes.length; ) {
        const place = this.arriving.wanted;
        assert(place !== null, "nothing comes behind the end");
        const some = bytes.subarray(at, at + Math.min(this.#most, place.length));
        place.set(some);
        at += some.length;
        this.arriving.took(some.length);
      }
    }
  }
}

const change = fc.record({ page: fc.nat(pages - 1), value: fc.nat(6) });
const changes = fc.array(change, { maxLength: 40 });
const rounds = fc.array(fc.record({ before: changes, meanwhile: changes }), { minLength: 1, maxLength: 4 });

test("D2 whatever changes before, in and behind the rounds, the memory that arrives is the one that stood still", () => {
  fc.assert(
    fc.property(rounds, changes, fc.integer({ min: 64, max: 300_000 }), (all, before, most) => {
      const travel = new Travel(most);
      // Neighbours too.
      for (let page = 100; page < 400; page++) fillPage(travel.memory, page, 2);
      for (const { before: first, meanwhile } of all) {
        travel.change(first);
        travel.round(everything, meanwhile);
      }
      travel.change(before);
      const left = travel.end(everything);
      assert.equal(travel.arriving.wanted, null);
      assert.deepEqual(travel.arriving.contents.state, state);
      const memoryBytes = wasmPages * 65_536;
      assert.deepEqual(travel.arriving.contents.header, { ...facts, format: 1, memoryBytes });
      assert(Buffer.compare(left, bytesOf(travel.room)) === 0, "the memories are equal");
    }),
    { numRuns: 30 },
  );
});

test("D2 a page that changes as it leaves, and changes back, goes again", () => {
  const travel = new Travel(100_000);
  fillPage(travel.memory, 5, 2);
  // It was 2 when it was chosen, is 4 when it leaves, and 2 when it is looked at again.
  travel.round(everything, [{ page: 5, value: 4 }]);
  fillPage(travel.memory, 5, 2);
  travel.round(everything);
  assert.equal(travel.departing.pages, 2);
  travel.end(everything);
  assert.equal(travel.arriving.wanted, null);
});

test("D2 what is not in use in the end is zero, whatever came of it before", () => {
  const travel = new Travel(100_000);
  for (let page = 0; page < pages; page++) fillPage(travel.memory, page, 3);
  travel.round(everything);
  travel.end([
    [0, 100 * pageBytes],
    [300 * pageBytes, pages * pageBytes],
  ]);
  const room = bytesOf(travel.room);
  assert(room.subarray(100 * pageBytes, 300 * pageBytes).every((byte) => byte === 0));
  assert(room.subarray(300 * pageBytes).every((byte) => byte === 3));
  assert.equal(travel.arriving.wanted, null);
});

/** Everything that leaves in a small journey, byte by byte: `wrong` is changed. */
function journey(wrong: number): Travel {
  const travel = new Travel(pageBytes, 1);
  const all: readonly MemoryRange[] = [[0, 65_536]];
  let at = 0;
  travel.spoil = (bytes) => {
    if (wrong >= at && wrong < at + bytes.length) bytes[wrong - at]! ^= 4;
    at += bytes.length;
  };
  fillPage(travel.memory, 3, 2);
  travel.round(all);
  for (const page of [3, 9, 10]) fillPage(travel.memory, page, 5);
  travel.round(all);
  fillPage(travel.memory, 9, 0);
  fillPage(travel.memory, 3, 2);
  travel.end(all);
  return travel;
}

test("D2 whatever is changed on its way is mended or noticed", () => {
  const right = journey(-1);
  const whole = right.arriving.bytes;
  let mended = 0;
  for (let at = 0; at < whole; at += 61) {
    let isNoticed = false;
    let travel: Travel | undefined;
    try {
      travel = journey(at);
    } catch (error) {
      assert(error instanceof ImageError || error instanceof assert.AssertionError, `byte ${at}: ${String(error)}`);
      isNoticed = true;
    }
    if (isNoticed || travel?.arriving.wanted !== null) continue;
    mended++;
    assert(Buffer.compare(bytesOf(right.room), bytesOf(travel.room)) === 0, `byte ${at}`);
  }
  assert(mended > 40, "pages of early rounds go again");
});

test("D2 answers that nobody asked for are refused", () => {
  assert.throws(() => new Travel(100).departing.heard(new Uint8Array(8)), ImageError);
});
