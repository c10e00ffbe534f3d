import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { longUnless, tries } from "../../../test/long.ts";
import { runTest } from "./tests-1-to-5.ts";

/** Each is four times the one before it. */
const sizes = [8, 32, 128, 512, 2048].slice(0, tries(3, 5));
const repetitions = 2;

describe("U5, U9 §6.2.1: Tests 1 to 5 without deaths, at any size", () => {
  const plain = sizes.map((ranks) => runTest({ ranks, test: 4, isLayered: false, repetitions }));
  const layered = sizes.map((ranks) => runTest({ ranks, test: 4, isLayered: true, repetitions }));
  const extraNs = layered.map(({ ns }, i) => ns - plain[i]!.ns);

  it("the synchronisation of a broadcast grows with the logarithm: four times as many processes add the same again", () => {
    const steps = extraNs.slice(1).map((time, i) => time - extraNs[i]!);
    ok(
      steps.every((step) => step > 0 && step < 1.5 * steps[0]!),
      `${extraNs}`,
    );
  });

  it("it takes two messages for each process but one, at any size", () => {
    for (const [i, ranks] of sizes.entries()) equal(layered[i]!.messages - plain[i]!.messages, 2 * (ranks - 1));
  });

  it("a wider tree is flatter", () => {
    const wide = runTest({ ranks: sizes[2]!, test: 4, isLayered: true, fanOut: 16, repetitions });
    ok(wide.ns < layered[2]!.ns);
  });

  it("Test 1: an allreduce is its own synchronisation, and costs at any size what it costs without the layer (ADR 58)", () => {
    for (const ranks of sizes) {
      const [alone, below] = [false, true].map((isLayered) => runTest({ ranks, test: 1, isLayered, repetitions }));
      deepEqual(below, alone);
    }
  });

  for (const test of [2, 3]) {
    it(`Test ${test}: a message costs the same at any size`, longUnless(test === 2), () => {
      const times = [8, 128].map((ranks) => runTest({ ranks, test, isLayered: true, repetitions }).ns);
      equal(times[0], times[1]);
    });
  }
});
