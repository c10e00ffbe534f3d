import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "../base/testing/properties.ts";
import { SparseTable } from "./sparse-table.ts";

/** As peers come in earnest: neighbours, powers of two apart, leaders of nodes, and any. */
const number = fc.oneof(
  fc.nat(40),
  fc.nat(30).map((bit) => 2 ** bit),
  fc.nat(500).map((node) => node * 1024),
  fc.nat(2 ** 29),
);
const step = fc.record({ number, isWrite: fc.boolean(), value: fc.integer() });

/** Places of the index in a row that are taken: no search is longer. */
function longestRun(table: SparseTable): number {
  const { index } = table as unknown as { readonly index: Int32Array };
  let [run, longest] = [0, 0];
  for (let place = 0; place < 2 * index.length; place++) {
    run = index[place % index.length]! < 0 ? 0 : run + 1;
    longest = Math.max(longest, run);
  }
  return longest;
}

describe("a sparse table", () => {
  it("holds what was written, and nothing else, whatever the numbers and their order", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const table = new SparseTable([7, -1]);
        const model = new Map<number, number>();
        for (const { number, isWrite, value } of steps) {
          const known = model.get(number);
          equal(table.find(number) >= 0, known !== undefined);
          if (!isWrite) continue;
          const slot = table.at(number);
          deepEqual([...table.words.subarray(slot, slot + 3)], [number, 7, known ?? -1]);
          table.words[slot + 2] = value;
          model.set(number, value);
        }
        const found: [number, number][] = [];
        table.forEach((slot) => {
          found.push([table.words[slot]!, table.words[slot + 2]!]);
        });
        deepEqual(found, [...model]);
        for (const [key, value] of model) equal(table.words[table.find(key) + 2], value);
      }),
    );
  });

  it("is as large as what it holds, not as what it could hold", () => {
    const table = new SparseTable([0, 0, 0]);
    for (let bit = 0; bit < 16; bit++) table.at(2 ** bit);
    ok(table.words.length <= 4 * 32, `${table.words.length} words for 16 slots of 4`);
  });

  it("finds its numbers in a few steps, also those that are far apart by a power of two", () => {
    for (const stride of [1, 2, 64, 1024, 4096, 65_536]) {
      const table = new SparseTable([0]);
      for (let i = 0; i < 2000; i++) table.at(i * stride);
      equal(table.count, 2000);
      ok(longestRun(table) <= 32, `${longestRun(table)} places in a row with numbers ${stride} apart`);
    }
  });
});
