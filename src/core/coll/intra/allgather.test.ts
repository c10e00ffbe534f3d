import assert from "node:assert/strict";
import { test } from "node:test";
import { equalBlocks, sum } from "../engine/rounds.ts";
import type { Blocks, Schedule } from "../engine/schedule.ts";
import { type Message, rubbish, run } from "../testing/collective-world.ts";
import { bytesOf, crossing, log2Ceiling, roundsMax, sentBy } from "../testing/cost.ts";
import { assertBytes, memberNodesOf, pattern, ranksOf, sizes } from "../testing/data.ts";
import { allgatherBruck } from "./allgather-bruck.ts";
import { allgatherRecursiveDoubling } from "./allgather-recursive-doubling.ts";
import { allgathervHierarchical } from "./allgatherv-hierarchical.ts";
import { allgathervRing } from "./allgatherv-ring.ts";
import { bcastBinomial } from "./bcast-binomial.ts";

type Build = (rank: number, inPlace: boolean) => Schedule;

/** Runs the collective, also in place, and returns the messages of the last run. */
function allgather(size: number, blocks: Blocks, build: Build): Message[] {
  const parts = ranksOf(size).map((rank) => pattern(rank, size, blocks.bytes[rank]!));
  const whole = rubbish(Math.max(...blocks.offsets.map((offset, rank) => offset + blocks.bytes[rank]!)) + 3);
  const expected = whole.slice();
  for (const [rank, part] of parts.entries()) expected.set(part, blocks.offsets[rank]!);
  let messages: Message[] = [];
  for (const inPlace of [false, true]) {
    const setups = ranksOf(size).map((rank) => {
      const receive = whole.slice();
      if (inPlace) receive.set(parts[rank]!, blocks.offsets[rank]!);
      return { schedule: build(rank, inPlace), receive, ...(inPlace ? {} : { send: parts[rank]! }) };
    });
    messages = run(setups, { seed: size });
    for (const [rank, { receive }] of setups.entries()) assertBytes(receive, expected, `rank ${rank} of ${size}`);
  }
  return messages;
}

/** Blocks of different lengths, one of them empty, with gaps. */
function gapped(size: number): Blocks {
  const bytes = ranksOf(size).map((rank) => (rank * 3 + size) % 5);
  let offset = 0;
  const offsets = bytes.map((length, rank) => {
    const at = offset + (rank % 3);
    offset = at + length;
    return at;
  });
  return { bytes, offsets };
}

test("M3 allgather recursive doubling: everybody has every block, log2 p rounds, (p − 1)·n bytes sent", () => {
  for (const size of [1, 2, 4, 8, 16, 32]) {
    for (const bytes of [0, 1, 5]) {
      const build: Build = (rank, inPlace) => allgatherRecursiveDoubling({ rank, size, bytes, inPlace });
      const messages = allgather(size, equalBlocks(size, bytes), build);
      for (const rank of ranksOf(size)) assert.equal(sentBy(rank, messages), (size - 1) * bytes);
      if (bytes > 0) assert.equal(roundsMax(ranksOf(size).map((rank) => build(rank, false))), Math.log2(size));
    }
  }
});

test("M3 allgather Bruck: everybody has every block, ⌈log2 p⌉ rounds, (p − 1)·n bytes sent", () => {
  for (const size of sizes) {
    for (const bytes of [0, 1, 5]) {
      const build: Build = (rank, inPlace) => allgatherBruck({ rank, size, bytes, inPlace });
      const messages = allgather(size, equalBlocks(size, bytes), build);
      for (const rank of ranksOf(size)) assert.equal(sentBy(rank, messages), (size - 1) * bytes);
      if (bytes > 0) assert.equal(roundsMax(ranksOf(size).map((rank) => build(rank, false))), log2Ceiling(size));
    }
  }
});

test("M3 allgather(v) ring: everybody has every block, p − 1 rounds, only neighbours talk", () => {
  for (const size of sizes) {
    for (const blocks of [equalBlocks(size, 0), equalBlocks(size, 7), gapped(size)]) {
      const build: Build = (rank, inPlace) => allgathervRing({ rank, size, blocks, inPlace });
      const messages = allgather(size, blocks, build);
      assert.equal(bytesOf(messages), (size - 1) * sum(blocks.bytes));
      assert.ok(messages.every(({ from, to }) => to === (from + 1) % size));
      assert.ok(roundsMax(ranksOf(size).map((rank) => build(rank, false))) <= size - 1);
    }
  }
});

test("M3 allgather(v) hierarchical: everybody has every block, (m − 1)·N bytes between m nodes", () => {
  for (const size of sizes) {
    for (const nodes of memberNodesOf(size)) {
      for (const blocks of [equalBlocks(size, 0), equalBlocks(size, 7), gapped(size)]) {
        const build: Build = (rank, inPlace) =>
          allgathervHierarchical({ rank, size, blocks, nodes, inPlace, inside: bcastBinomial });
        const messages = allgather(size, blocks, build);
        assert.equal(bytesOf(crossing(messages, nodes)), (new Set(nodes).size - 1) * sum(blocks.bytes));
      }
    }
  }
});
