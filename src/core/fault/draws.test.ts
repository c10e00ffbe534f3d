import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { Draws } from "./draws.ts";
import type { Span } from "./plan.ts";

const samples = 20_000;
const drawn = (span: Span): number[] =>
  Array.from({ length: samples }, (_, occurrence) => new Draws(7, 3, occurrence).span(span));
const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

describe("U7 draws of a fault plan", () => {
  it("the same names give the same draws, others give others", () => {
    const first = (...names: readonly number[]): number[] => {
      const draws = new Draws(7, ...names);
      return [draws.unit(), draws.unit()];
    };
    deepEqual(first(1, 2), first(1, 2));
    const all = [1, 2, 3].flatMap((entry) => Array.from({ length: 1000 }, (_, firing) => first(entry, firing)));
    equal(new Set(all.flat()).size, 6000);
  });

  it("are what they always were: a plan and a seed mean the same in every version", () => {
    const draws = new Draws(7, 1, 0, 0);
    deepEqual([draws.span({ kind: "exponential", meanMs: 1000 }), draws.pick(["a", "b", "c", "d"])], [769.737, "c"]);
  });

  // The relative standard deviation σ/mean is known for each; five of its standard errors are allowed.
  const distributions: readonly (readonly [Span, number, number])[] = [
    [{ kind: "around", ms: 5000, spreadMs: 1000 }, 5000, 1000 / Math.sqrt(3) / 5000],
    [{ kind: "between", leastMs: 1000, mostMs: 10_000 }, 5500, 9000 / Math.sqrt(12) / 5500],
    [{ kind: "exponential", meanMs: 20_000 }, 20_000, 1],
    // Γ(1 + 1/0.7), and √(Γ(1 + 2/0.7)/Γ(1 + 1/0.7)² − 1).
    [{ kind: "weibull", shape: 0.7, scaleMs: 30_000 }, 30_000 * 1.26582, 1.4624],
    [{ kind: "weibull", shape: 1, scaleMs: 30_000 }, 30_000, 1],
  ];
  for (const [span, meanMs, deviation] of distributions) {
    it(`${JSON.stringify(span)} has the mean ${meanMs} and its spread`, () => {
      const values = drawn(span);
      const error = Math.abs(meanOf(values) / meanMs - 1);
      ok(error < (5 * deviation) / Math.sqrt(samples), `the mean is off by ${error}`);
      const found = Math.sqrt(meanOf(values.map((value) => (value / meanMs - 1) ** 2)));
      ok(Math.abs(found / deviation - 1) < 0.1, `σ/mean is ${found}, not ${deviation}`);
    });
  }

  it("stay within their bounds", () => {
    for (const value of drawn({ kind: "between", leastMs: 10, mostMs: 11 })) ok(value >= 10 && value <= 11);
    for (const value of drawn({ kind: "around", ms: 10, spreadMs: 1 })) ok(value >= 9 && value <= 11);
    equal(new Draws(1).span({ kind: "fixed", ms: 12 }), 12);
  });

  it("a pick is even", () => {
    const counts = [0, 0, 0, 0];
    for (let firing = 0; firing < samples; firing++) counts[new Draws(7, 1, firing).pick([0, 1, 2, 3])]!++;
    for (const count of counts) ok(Math.abs(count / (samples / 4) - 1) < 0.05, String(counts));
  });
});
