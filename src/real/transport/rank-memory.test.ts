/** A process's memory: blocks never overlap and are used again, copies are right at every size and alignment. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pointer } from "../../core/base/brand.ts";
import { MpiError } from "../../core/base/mpi-error.ts";
import fc from "../../core/base/testing/properties.ts";
import { layoutOf } from "./layout.ts";
import { enterNodeMemory, newNodeMemory } from "./node-memory.ts";
import { RankMemory } from "./rank-memory.ts";

const newMemories = (memoryBytes = 64 << 20) => {
  const layout = layoutOf({ processes: 2, memoryBytes, boards: 1 });
  const memory = newNodeMemory(layout);
  return [0, 1].map((process) => new RankMemory(enterNodeMemory(memory, layout, process))) as [RankMemory, RankMemory];
};

const bytesArbitrary = fc.oneof(
  fc.integer({ min: 0, max: 300 }),
  fc.integer({ min: 0, max: 40_000 }),
  fc.integer({ min: 30_000, max: 400_000 }),
);

test("blocks of two processes never overlap, are aligned, and keep their bytes until they are freed", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ bytes: bytesArbitrary, who: fc.nat(1), free: fc.nat(3) }), { maxLength: 120 }),
      (steps) => {
        const memories = newMemories();
        const live: { pointer: Pointer; bytes: number; who: number; mark: number }[] = [];
        steps.forEach(({ bytes, who, free }, i) => {
          const pointer = memories[who]!.allocate(bytes);
          assert.equal(pointer % 16, 0);
          const mark = (i % 255) + 1;
          memories[who]!.view(pointer, bytes).fill(mark);
          live.push({ pointer, bytes, who, mark });
          if (free !== 0 || live.length < 2) return;
          const [block] = live.splice(i % live.length, 1);
          assert.ok(memories[block!.who]!.view(block!.pointer, block!.bytes).every((byte) => byte === block!.mark));
          memories[block!.who]!.free(block!.pointer);
        });
        for (const { pointer, bytes, who, mark } of live) {
          assert.ok(memories[who]!.view(pointer, bytes).every((byte) => byte === mark));
        }
      },
    ),
    { numRuns: 60 },
  );
});

test("freed memory is used again, small and large, and neighbouring large blocks grow together", () => {
  const [memory] = newMemories(16 << 20);
  for (let round = 0; round < 200; round++) {
    const blocks = [700_000, 100, 5000, 2_000_000, 70_000, 64].map((bytes) => memory.allocate(bytes));
    for (const block of blocks) memory.free(block);
  }
  memory.free(memory.allocate(8_000_000));
});

test("a node without memory left says so, and what is freed can be had again", () => {
  const [memory, other] = newMemories(8 << 20);
  const blocks: Pointer[] = [];
  const isNoMemory = (error: unknown) => error instanceof MpiError && /used up/.test(error.message);
  assert.throws(() => {
    for (;;) blocks.push(memory.allocate(300_000));
  }, isNoMemory);
  assert.throws(() => other.allocate(1_000_000), isNoMemory);
  assert.throws(() => memory.allocate(2 ** 31), isNoMemory);
  memory.free(blocks.pop()!);
  memory.allocate(300_000);
});

test("copies between blocks, payloads and lent views, at every size and alignment", () => {
  const [memory] = newMemories();
  const shared = memory.allocate(100_000);
  const payload = memory.allocate(100_000);
  const sizes = [...Array(150).keys(), 255, 256, 1000, 1024, 8191, 8192, 70_000];
  const rest = (at: number) => (at * 7 + 3) & 0xff;
  for (const bytes of sizes) {
    for (const offset of [0, 1, 3, 4, 8]) {
      const view = new Uint8Array(bytes + 16);
      const lent = memory.lend(view);
      for (const from of [shared, lent]) {
        const source = memory.view(from, bytes + 16);
        for (let at = 0; at < source.length; at++) source[at] = rest(at);
        memory.view(payload, bytes + 20).fill(0);
        memory.toPayload(payload + 4, from, offset, bytes);
        const target = memory.view(payload, bytes + 20);
        assert.ok(
          target.subarray(4, 4 + bytes).every((byte, at) => byte === rest(at + offset)),
          `${bytes} at ${offset}`,
        );
        assert.ok(target[3] === 0 && target[4 + bytes] === 0, "nothing beside it is written");
        source.fill(0);
        memory.fromPayload(from, offset, payload + 4, bytes);
        assert.ok(source.subarray(offset, offset + bytes).every((byte, at) => byte === rest(at + offset)));
        assert.ok(
          source.subarray(offset + bytes).every((byte) => byte === 0),
          "nothing behind it is written",
        );
      }
      const second = memory.lend(new Uint8Array(bytes));
      memory.copy(second, 0, lent, offset, bytes);
      assert.deepEqual(memory.view(second, bytes), view.subarray(offset, offset + bytes));
      memory.giveBack(second);
      memory.giveBack(lent);
    }
  }
});

test("views that are lent get numbers below zero, which are used again", () => {
  const [memory] = newMemories();
  const lent = memory.lend(new Uint8Array(4));
  assert.ok(lent < 0);
  memory.giveBack(lent);
  assert.equal(memory.lend(new Uint8Array(5)), lent);
});

test("copies that overlap, in both directions, at every size the registers take", () => {
  const [memory] = newMemories();
  const block = memory.allocate(8192);
  for (const bytes of [33, 64, 65, 127, 128, 1000, 2048, 2049]) {
    for (const distance of [-100, -64, -32, -1, 0, 1, 32, 64, 100, 2100]) {
      const [from, to] = [3000, 3000 + distance];
      for (let i = 0; i < 8192; i++) memory.bytes[block + i] = (i * 31) & 0xff;
      const expected = memory.bytes.slice(block, block + 8192).copyWithin(to, from, from + bytes);
      memory.copy(block, to, block, from, bytes);
      assert.deepEqual(memory.bytes.slice(block, block + 8192), expected, `${bytes} bytes moved by ${distance}`);
    }
  }
});
