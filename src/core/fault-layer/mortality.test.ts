/** When to die, and silent faults. Rows U7 and U8: sections 5.3.6, 5.4 and 5.5.2 of the thesis. */
import { deepEqual, equal, notDeepEqual, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { BitFlips } from "../base/bit-flips.ts";
import { SeededRandom } from "../base/seeded-random.ts";
import { Draws } from "../fault/draws.ts";
import { anyDeath, type DeathReason, deathWithin, Mortality } from "./mortality.ts";
import { failureProbability } from "./silent-faults.ts";

/** The call in which it dies, if it makes one every `stepMs`. */
function deathOf(reasons: readonly DeathReason[], { seed = 1, rank = 0, stepMs = 10, calls = 100_000 } = {}): number {
  const mortality = new Mortality(reasons, seed, rank);
  for (let call = 1; call <= calls; call++) if (mortality.decide(call * stepMs)) return call;
  return -1;
}

describe("U7 §5.3.6: when a process dies", () => {
  it("in a call, at a time, by whichever comes first, or never", () => {
    equal(deathOf([{ kind: "call", count: 100 }]), 100);
    equal(deathOf([{ kind: "lifetime", span: { kind: "fixed", ms: 500 } }]), 50);
    const both: readonly DeathReason[] = [
      { kind: "call", count: 100 },
      { kind: "lifetime", span: { kind: "fixed", ms: 500 } },
    ];
    equal(deathOf(both), 50);
    equal(deathOf([]), -1);
    equal(deathOf([{ kind: "chance", probability: 0 }]), -1);
    equal(deathOf([{ kind: "chance", probability: 1 }]), 1);
  });

  it("the same seed and rank die at the same time, others at others", () => {
    const reasons: readonly DeathReason[] = [
      { kind: "lifetime", span: { kind: "weibull", shape: 0.7, scaleMs: 30_000 } },
      { kind: "rate", probability: 0.5, periodMs: 60_000 },
    ];
    const deaths = (seed: number): number[] => [0, 1, 2, 3].map((rank) => deathOf(reasons, { seed, rank }));
    deepEqual(deaths(7), deaths(7));
    notDeepEqual(deaths(7), deaths(8));
    equal(new Set(deaths(7)).size, 4);
  });

  it("(5.1): how often a process asks makes no difference to when it dies", () => {
    const reasons: readonly DeathReason[] = [{ kind: "rate", probability: 0.5, periodMs: 1_000 }];
    const samples = 2_000;
    for (const stepMs of [10, 100, 1_000]) {
      const within = (ms: number): number => {
        let dead = 0;
        for (let seed = 1; seed <= samples; seed++) {
          const call = deathOf(reasons, { seed, stepMs, calls: ms / stepMs });
          if (call > 0) dead++;
        }
        return dead / samples;
      };
      // Five standard errors.
      ok(Math.abs(within(1_000) - 0.5) < (5 * 0.5) / Math.sqrt(samples), `asked every ${stepMs} ms`);
    }
  });

  it("§5.5.2: a group of 16 within two hours and within three days, as the thesis has them", () => {
    const within = (hours: number): number => anyDeath(deathWithin(0.001, hours / 24), 16);
    equal(within(2).toFixed(4), "0.0013");
    equal(within(72).toFixed(3), "0.047");
  });
});

const unit = (): fc.Arbitrary<number> => fc.double({ min: 0, max: 1, noNaN: true });
const size = (): fc.Arbitrary<number> => fc.double({ min: 1, max: 50, noNaN: true });
const slack = 1e-9;

describe("U8 §5.4: the probability that a process fails", () => {
  it("is the one of the thesis", () => {
    fc.assert(
      fc.property(unit(), unit(), size(), (pc, pf, k) => {
        const inner = pc + pf + (1 - pf) * pc + (1 - pc) * (2 - 2 * (1 - pf) ** k - pf);
        const thesis = pc * pf + (1 - pc * pf) * (inner / 2);
        ok(Math.abs(failureProbability({ pc, pf, k }) - thesis) < slack);
      }),
    );
  });

  it("requirement 1: where one of the two is certain, so is the failure", () => {
    fc.assert(
      fc.property(unit(), size(), (p, k) => {
        equal(failureProbability({ pc: p, pf: 1, k }), 1);
        equal(failureProbability({ pc: 1, pf: p, k }), 1);
      }),
    );
  });

  it("requirement 2: where one of the two is impossible, the other one alone counts", () => {
    fc.assert(
      fc.property(unit(), size(), (p, k) => {
        ok(Math.abs(failureProbability({ pc: p, pf: 0, k }) - p) < slack);
        ok(Math.abs(failureProbability({ pc: 0, pf: p, k }) - (1 - (1 - p) ** k)) < slack);
      }),
    );
  });

  it("requirement 3: it is at least each of the two, and grows with both and with the size", () => {
    fc.assert(
      fc.property(unit(), unit(), size(), unit(), (pc, pf, k, more) => {
        const p = failureProbability({ pc, pf, k });
        ok(p >= pc - slack && p >= pf - slack && p <= 1 + slack);
        ok(failureProbability({ pc: pc + more * (1 - pc), pf, k }) >= p - slack);
        ok(failureProbability({ pc, pf: pf + more * (1 - pf), k }) >= p - slack);
        ok(failureProbability({ pc, pf, k: k + more }) >= p - slack);
      }),
    );
  });
});

/** Lets the bytes pass; the number of flips. */
function flipBits(bytes: Uint8Array, probability: number, unit: () => number): number {
  const flips = new BitFlips(probability, unit);
  if (flips.isNear(bytes.length)) flips.flip(bytes);
  return flips.count;
}

const ones = (bytes: Uint8Array): number =>
  bytes.reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);

describe("U8 §5.4: bits that flip", () => {
  it("never, or all of them", () => {
    const random = new Draws(1);
    const bytes = new Uint8Array(100);
    equal(
      flipBits(bytes, 0, () => random.unit()),
      0,
    );
    equal(ones(bytes), 0);
    equal(
      flipBits(bytes, 1, () => random.unit()),
      800,
    );
    equal(ones(bytes), 800);
  });

  it("each at most once, the same ones with the same draws", () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 0, max: 200 }), unit(), (seed, length, p) => {
        const flipped = (): Uint8Array => {
          const random = new Draws(seed);
          const bytes = new Uint8Array(length);
          equal(
            flipBits(bytes, p, () => random.unit()),
            ones(bytes),
          );
          return bytes;
        };
        deepEqual(flipped(), flipped());
      }),
    );
  });

  it("as often as the binomial distribution says, at every place alike", () => {
    const bits = 32;
    const p = 0.1;
    const samples = 40_000;
    const random = new SeededRandom(5);
    const draw = (): number => (random.bits() + 0.5) / 2 ** 32;
    const byCount = new Array<number>(bits + 1).fill(0);
    const byPlace = new Array<number>(bits).fill(0);
    for (let i = 0; i < samples; i++) {
      const bytes = new Uint8Array(bits / 8);
      const count = flipBits(bytes, p, draw);
      byCount[count]!++;
      for (let bit = 0; bit < bits; bit++) if ((bytes[bit >> 3]! >> (bit & 7)) & 1) byPlace[bit]!++;
    }
    let probability = (1 - p) ** bits;
    for (let count = 0; count <= 9; count++) {
      const error = Math.abs(byCount[count]! / samples - probability);
      ok(error < 5 * Math.sqrt((probability * (1 - probability)) / samples), `${count} flips, off by ${error}`);
      probability *= ((bits - count) / (count + 1)) * (p / (1 - p));
    }
    for (const [bit, count] of byPlace.entries()) {
      ok(Math.abs(count / samples - p) < 5 * Math.sqrt((p * (1 - p)) / samples), `bit ${bit}`);
    }
  });
});
