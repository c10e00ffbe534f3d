import { equal, notEqual, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import { Arena } from "./arena.ts";

describe("memory of a simulated node", () => {
  it("grows, and is never replaced", () => {
    const arena = new Arena();
    const { bytes, words } = arena;
    const first = arena.allocate(10, 1);
    bytes[first] = 77;
    const large = arena.allocate(1 << 20, 1);
    bytes[large + (1 << 20) - 1] = 5;
    equal(arena.bytes, bytes);
    equal(bytes[first], 77);
    equal(bytes.length >= large + (1 << 20), true);
    equal(words.length, bytes.length / 4);
  });

  it("gives aligned blocks, uses them again, and overwrites what was freed", () => {
    const arena = new Arena();
    const block = arena.allocate(100, 1);
    equal(block % 16, 0);
    arena.bytes[block] = 1;
    equal(arena.free(block, 1), 100);
    notEqual(arena.bytes[block], 1);
    equal(arena.allocate(90, 2), block);
  });

  it("notices a block freed twice, by somebody else, or with its header overwritten", () => {
    const arena = new Arena();
    const [one, two, three] = [1, 2, 3].map(() => arena.allocate(20, 1)) as [number, number, number];
    arena.free(one, 1);
    throws(() => arena.free(one, 1), /not in use/);
    throws(() => arena.free(two, 9), /not its owner/);
    arena.bytes.fill(0, two, three);
    throws(() => arena.free(three, 1), /overwritten/);
  });

  it("says NO_MEM when it is full", () => {
    throws(() => new Arena(1 << 15).allocate(1 << 15, 1), /Cannot allocate/);
  });
});
