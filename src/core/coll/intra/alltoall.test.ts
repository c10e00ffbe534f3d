import assert from "node:assert/strict";
import { test } from "node:test";
import { equalBlocks } from "../engine/rounds.ts";
import type { Blocks, Schedule } from "../engine/schedule.ts";
import { type Message, rubbish, run } from "../testing/collective-world.ts";
import { log2Ceiling, roundsMax } from "../testing/cost.ts";
import { assertBytes, pattern, ranksOf, sizes } from "../testing/data.ts";
import { alltoallBruck } from "./alltoall-bruck.ts";
import { alltoallvPairwise, exchangesPerRound } from "./alltoallv-pairwise.ts";

interface Case {
  readonly size: number;
  readonly inPlace: boolean;
  bytes(from: number, to: number): number;
  sends(rank: number): Blocks;
  receives(rank: number): Blocks;
}

const lengthOf = ({ bytes, offsets }: Blocks): number =>
  Math.max(0, ...offsets.map((offset, index) => offset + bytes[index]!)) + 2;

function alltoall({ size, inPlace, bytes, sends, receives }: Case, build: (rank: number) => Schedule): Message[] {
  const fill = (blocks: Blocks, part: (peer: number) => Uint8Array): Uint8Array => {
    const whole = rubbish(lengthOf(blocks));
    for (const peer of ranksOf(size)) whole.set(part(peer), blocks.offsets[peer]!);
    return whole;
  };
  const setups = ranksOf(size).map((rank) => {
    const leaving = fill(inPlace ? receives(rank) : sends(rank), (to) => pattern(rank, to, bytes(rank, to)));
    return inPlace
      ? { schedule: build(rank), receive: leaving }
      : { schedule: build(rank), send: leaving, receive: rubbish(lengthOf(receives(rank))) };
  });
  const messages = run(setups, { seed: size });
  for (const [rank, { receive }] of setups.entries()) {
    const expected = fill(receives(rank), (from) => pattern(from, rank, bytes(from, rank)));
    assertBytes(receive, expected, `rank ${rank} of ${size}`);
  }
  return messages;
}

const equalCase = (size: number, bytes: number, inPlace: boolean): Case => ({
  size,
  inPlace,
  bytes: () => bytes,
  sends: () => equalBlocks(size, bytes),
  receives: () => equalBlocks(size, bytes),
});

test("M3 alltoall Bruck: every block arrives, also in place, ⌈log2 p⌉ rounds", () => {
  for (const size of sizes) {
    for (const bytes of [0, 1, 5]) {
      for (const inPlace of [false, true]) {
        const build = (rank: number) => alltoallBruck({ rank, size, bytes, inPlace });
        const messages = alltoall(equalCase(size, bytes, inPlace), build);
        if (bytes > 0) assert.equal(roundsMax(ranksOf(size).map(build)), log2Ceiling(size));
        assert.ok(messages.every((message) => message.bytes <= (bytes * size) / 2));
      }
    }
  }
});

test("M3 alltoall pairwise: every block arrives, also in place, each sent once", () => {
  for (const size of sizes) {
    for (const bytes of [0, 1, 5]) {
      for (const inPlace of [false, true]) {
        const blocks = equalBlocks(size, bytes);
        const build = (rank: number) => alltoallvPairwise({ rank, size, sends: blocks, receives: blocks, inPlace });
        const messages = alltoall(equalCase(size, bytes, inPlace), build);
        assert.equal(messages.length, bytes === 0 ? 0 : size * (size - 1));
        const rounds = Math.ceil((size - 1) / exchangesPerRound);
        if (bytes > 0) assert.equal(roundsMax(ranksOf(size).map(build)), rounds);
      }
    }
  }
});

/** Different lengths for every pair, in another order on each side, with gaps. */
function unequalCase(size: number, inPlace: boolean): Case {
  const bytes = (from: number, to: number) => (inPlace ? (from * to) % 5 : (from * 3 + to * 5) % 7);
  const laidOut = (lengths: number[], gap: number): Blocks => {
    const offsets: number[] = [];
    let offset = gap;
    for (let peer = size - 1; peer >= 0; peer--) {
      offsets[peer] = offset;
      offset += lengths[peer]! + gap;
    }
    return { bytes: lengths, offsets };
  };
  return {
    size,
    inPlace,
    bytes,
    sends: (rank) =>
      laidOut(
        ranksOf(size).map((to) => bytes(rank, to)),
        1,
      ),
    receives: (rank) =>
      laidOut(
        ranksOf(size).map((from) => bytes(from, rank)),
        2,
      ),
  };
}

test("M3 alltoallv and alltoallw pairwise: unequal blocks with gaps, also in place", () => {
  for (const size of sizes) {
    for (const inPlace of [false, true]) {
      const given = unequalCase(size, inPlace);
      alltoall(given, (rank) =>
        alltoallvPairwise({ rank, size, sends: given.sends(rank), receives: given.receives(rank), inPlace }),
      );
    }
  }
});
