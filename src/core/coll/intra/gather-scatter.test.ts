import assert from "node:assert/strict";
import { test } from "node:test";
import type { Blocks, Schedule } from "../engine/schedule.ts";
import { type Message, rubbish, run } from "../testing/collective-world.ts";
import { bytesOf, roundsMax } from "../testing/cost.ts";
import { assertBytes, pattern, ranksOf, rootsOf, sizes } from "../testing/data.ts";
import { gatherBinomial } from "./gather-binomial.ts";
import { gathervLinear } from "./gatherv-linear.ts";
import { scatterBinomial } from "./scatter-binomial.ts";
import { scattervLinear } from "./scatterv-linear.ts";

/** Blocks of 0 to 6 bytes with gaps between them, last rank first. */
function scattered(size: number): Blocks {
  const bytes = ranksOf(size).map((rank) => (rank * 5 + size) % 7);
  const offsets = new Array<number>(size).fill(0);
  let offset = 1;
  for (let rank = size - 1; rank >= 0; rank--) {
    offsets[rank] = offset;
    offset += bytes[rank]! + (rank % 2);
  }
  return { bytes, offsets };
}

/** The buffer in which those blocks lie; rubbish between them. */
function laidOut({ bytes, offsets }: Blocks, parts: readonly Uint8Array[]): Uint8Array {
  const whole = rubbish(Math.max(...offsets.map((offset, rank) => offset + bytes[rank]!)) + 1);
  for (const [rank, part] of parts.entries()) whole.set(part, offsets[rank]!);
  return whole;
}

interface Case {
  readonly size: number;
  readonly root: number;
  readonly blocks: Blocks;
  readonly inPlace: boolean;
}

function gather(schedules: readonly Schedule[], { size, root, blocks, inPlace }: Case): Message[] {
  const parts = ranksOf(size).map((rank) => pattern(rank, root, blocks.bytes[rank]!));
  const receive = laidOut(blocks, []);
  if (inPlace) receive.set(parts[root]!, blocks.offsets[root]!);
  const setups = schedules.map((schedule, rank) => ({
    schedule,
    ...(rank === root ? { receive } : {}),
    ...(rank === root && inPlace ? {} : { send: parts[rank]! }),
  }));
  const messages = run(setups, { seed: size + root });
  assertBytes(receive, laidOut(blocks, parts), `gather of ${size} at ${root}`);
  return messages;
}

function scatter(schedules: readonly Schedule[], { size, root, blocks, inPlace }: Case): Message[] {
  const parts = ranksOf(size).map((rank) => pattern(root, rank, blocks.bytes[rank]!));
  const setups = schedules.map((schedule, rank) => ({
    schedule,
    ...(rank === root ? { send: laidOut(blocks, parts) } : {}),
    ...(rank === root && inPlace ? {} : { receive: rubbish(blocks.bytes[rank]!) }),
  }));
  const messages = run(setups, { seed: size + root });
  for (const [rank, { receive }] of setups.entries()) {
    if (rank !== root || !inPlace) assertBytes(receive, parts[rank]!, `scatter to ${rank} of ${size} from ${root}`);
  }
  return messages;
}

const equalCase = (size: number, bytes: number): Blocks => ({
  bytes: ranksOf(size).map(() => bytes),
  offsets: ranksOf(size).map((rank) => rank * bytes),
});

/** Every size, root and whether the root's own block is in place already. */
function forEachCase(visit: (given: Omit<Case, "blocks">) => void): void {
  for (const size of sizes) {
    for (const root of rootsOf(size)) {
      for (const inPlace of [false, true]) visit({ size, root, inPlace });
    }
  }
}

function checkBinomial(
  schedule: typeof gatherBinomial | typeof scatterBinomial,
  runAll: (schedules: readonly Schedule[], given: Case) => Message[],
): void {
  forEachCase(({ size, root, inPlace }) => {
    for (const bytes of [0, 1, 6]) {
      const schedules = ranksOf(size).map((rank) =>
        schedule({ rank, size, root, bytes, inPlace: inPlace && rank === root }),
      );
      runAll(schedules, { size, root, blocks: equalCase(size, bytes), inPlace });
      assert.ok(roundsMax(schedules) <= 2);
    }
  });
}

function checkLinear(
  schedule: typeof gathervLinear | typeof scattervLinear,
  runAll: (schedules: readonly Schedule[], given: Case) => Message[],
): void {
  forEachCase(({ size, root, inPlace }) => {
    const blocks = scattered(size);
    const schedules = ranksOf(size).map((rank) => {
      const bytes = blocks.bytes[rank]!;
      return schedule(rank === root ? { rank, size, root, bytes, blocks, inPlace } : { rank, size, root, bytes });
    });
    const messages = runAll(schedules, { size, root, blocks, inPlace });
    assert.equal(messages.length, size - 1);
  });
}

test("M3 gather binomial: the root has everybody's block, also in place", () => {
  checkBinomial(gatherBinomial, gather);
});

test("M3 scatter binomial: everybody has its block, also in place", () => {
  checkBinomial(scatterBinomial, scatter);
});

test("M3 gather and scatter binomial: n·p·log2(p)/2 bytes in all", () => {
  for (const [size, steps] of [
    [2, 1],
    [8, 3],
    [32, 5],
  ] as const) {
    const total = (10 * size * steps) / 2;
    const given = { size, root: 0, blocks: equalCase(size, 10), inPlace: false };
    const gathers = ranksOf(size).map((rank) => gatherBinomial({ rank, size, root: 0, bytes: 10 }));
    const scatters = ranksOf(size).map((rank) => scatterBinomial({ rank, size, root: 0, bytes: 10 }));
    assert.equal(bytesOf(gather(gathers, given)), total);
    assert.equal(bytesOf(scatter(scatters, given)), total);
  }
});

test("M3 gatherv linear: unequal blocks with gaps, also in place, one message for each block, also an empty one", () => {
  checkLinear(gathervLinear, gather);
});

test("M3 scatterv linear: unequal blocks with gaps, also in place, one message for each block, also an empty one", () => {
  checkLinear(scattervLinear, scatter);
});

test("M3 gather binomial: a run that wraps round the end of the root's buffer comes as two messages", () => {
  const [size, root] = [7, 4];
  const schedules = ranksOf(size).map((rank) => gatherBinomial({ rank, size, root, bytes: 3 }));
  const messages = gather(schedules, { size, root, blocks: equalCase(size, 3), inPlace: false });
  assert.equal(messages.filter(({ from, to }) => from === 6 && to === root).length, 2);
  assert.equal(messages.filter(({ to }) => to === root).length, 4);
});
