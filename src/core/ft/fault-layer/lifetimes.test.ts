import { deepEqual, equal, match } from "node:assert/strict";
import { describe, it } from "node:test";
import { lifetimesOf } from "./lifetimes.ts";
import { checkFaultLayer } from "./options.ts";

describe("U7 §5.3.6: --lifetimes", () => {
  it("each form has its meaning", () => {
    deepEqual(lifetimesOf("exponential:30s"), { kind: "exponential", meanMs: 30_000 });
    deepEqual(lifetimesOf("exponential:.5h"), { kind: "exponential", meanMs: 1_800_000 });
    deepEqual(lifetimesOf("weibull:0.7,1.5m"), { kind: "weibull", shape: 0.7, scaleMs: 90_000 });
    deepEqual(lifetimesOf("rate:0.001,24h"), { kind: "rate", probability: 0.001, periodMs: 86_400_000 });
    deepEqual(lifetimesOf("chance:1e-3"), { kind: "chance", probability: 0.001 });
    deepEqual(lifetimesOf("memory:0.01,3,60s"), { kind: "memory", pc: 0.01, k: 3, periodMs: 60_000 });
    deepEqual(lifetimesOf("rate:1,20ms"), { kind: "rate", probability: 1, periodMs: 20 });
  });

  for (const text of [
    "",
    "30s",
    "exponential",
    "exponential:30",
    "exponential:0s",
    "exponential:-1s",
    "exponential:2,30s",
    "normal:30s",
    "weibull:30s",
    "weibull:0.01,30s",
    "weibull:101,30s",
    "weibull:x,30s",
    "weibull:1,2,30s",
    "rate:0,1s",
    "rate:1.5,1s",
    "rate:1s",
    "chance:0",
    "chance:1s",
    "chance:1,1s",
    "memory:0.1,1s",
    "memory:0.1,0.5,1s",
  ]) {
    it(`refuses "${text}" in one line`, () => {
      const wrong = checkFaultLayer({ lifetimes: text });
      match(wrong ?? "", /^Cannot give processes the lifetimes ".*": give exponential:30s, weibull:0\.7,30s .*$/);
      equal(wrong?.includes("\n"), false);
    });
  }
});
