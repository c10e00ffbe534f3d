import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { timeLimit } from "../../../test/patience.ts";
import { DeterminantKind } from "../../core/ft/logging/determinant-stream.ts";
import { createDeterminantRing, enterRing, headWords, type SharedRing } from "./determinant-ring.ts";
import { DeterminantWriter } from "./determinant-writer.ts";

const newBell = () => new Int32Array(new SharedArrayBuffer(4));

if (isMainThread) describe("the ring of determinants", tests);
else appendMany(workerData);

/** The second writer: this file again, in a thread of its own. */
function appendMany({ ring, bell, count }: { ring: SharedRing; bell: Int32Array; count: number }): void {
  const writer = new DeterminantWriter(ring, bell);
  for (let i = 0; i < count; i++) writer.append(1, DeterminantKind.CANCELLED, [i]);
}

/** As the main thread does. */
class DeterminantReader {
  readonly #ring: SharedRing;
  readonly #calls: ReturnType<typeof enterRing>;
  #from: number;

  constructor(ring: SharedRing) {
    this.#ring = ring;
    this.#calls = enterRing(ring);
    this.#from = this.#calls.stable();
  }

  take(): { readonly from: number; readonly part: Int32Array } | null {
    const from = this.#from;
    const view = new Int32Array(this.#ring.memory.buffer);
    const count = (this.#calls.heed() - from) | 0;
    if (count === 0) return null;
    const part = Int32Array.from({ length: count }, (_, i) => view[headWords + ((from + i) & (this.#ring.words - 1))]!);
    this.#from = (from + count) | 0;
    this.#calls.free(this.#from);
    return { from, part };
  }

  acknowledge(position: number): void {
    this.#calls.acknowledge(position);
  }
}

function tests(): void {
  it("gives what was appended, from where the life before had come to", () => {
    const ring = createDeterminantRing({ position: 100 });
    const writer = new DeterminantWriter(ring, newBell());
    const reader = new DeterminantReader(ring);
    equal(reader.take(), null);
    writer.append3(3, DeterminantKind.MATCH, 7, 1, 9);
    equal(writer.born, 106);
    equal(writer.stable, 100);
    deepEqual(reader.take(), { from: 100, part: Int32Array.of(6, 3, DeterminantKind.MATCH, 7, 1, 9) });
    equal(reader.take(), null);
    reader.acknowledge(106);
    equal(writer.stable, 106);
    reader.acknowledge(103);
    equal(writer.stable, 106, "acknowledgements never go back");
  });

  it("wraps, and its positions do", () => {
    const ring = createDeterminantRing({ position: 0x7ffffffe, words: 16 });
    const writer = new DeterminantWriter(ring, newBell());
    const reader = new DeterminantReader(ring);
    let at = 0x7ffffffe;
    for (let i = 0; i < 20; i++) {
      writer.append(i, DeterminantKind.CANCELLED, [i]);
      deepEqual(reader.take(), { from: at, part: Int32Array.of(4, i, DeterminantKind.CANCELLED, i) });
      at = (at + 4) | 0;
    }
    equal(writer.born, at);
  });

  it("a full ring makes its writer wait, and loses nothing (two writers)", timeLimit(20_000), async () => {
    const ring = createDeterminantRing({ position: 0, words: 64 });
    const bell = newBell();
    const count = 2000;
    const other = new Worker(new URL(import.meta.url), { workerData: { ring, bell, count } });
    const reader = new DeterminantReader(ring);
    const seen: number[][] = [[], []];
    const writer = new DeterminantWriter(ring, bell);
    let own = 0;
    while (seen[0]!.length + seen[1]!.length < 2 * count) {
      for (let i = 0; i < 4 && own < count; i++) writer.append(0, DeterminantKind.CANCELLED, [own++]);
      const part = reader.take()?.part ?? new Int32Array(0);
      for (let at = 0; at < part.length; at += part[at]!) seen[part[at + 1]!]!.push(part[at + 3]!);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await other.terminate();
    const all = Array.from({ length: count }, (_, i) => i);
    deepEqual(seen, [all, all]);
  });
}
