import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "../core/base/testing/properties.ts";
import { Agenda } from "./agenda.ts";

describe("event queue", () => {
  it("gives events by time, at the same time in the order they were planned", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 200 }), (times) => {
        const queue = new Agenda<{ time: number; index: number }>();
        times.forEach((time, index) => {
          queue.plan(time, { time, index });
        });
        const taken = times.map(() => queue.take()!);
        equal(queue.take(), undefined);
        const wanted = times
          .map((time, index) => ({ time, index }))
          .sort((a, b) => a.time - b.time || a.index - b.index);
        deepEqual(taken, wanted);
      }),
    );
  });

  it("knows the time of what it gave, and takes no event for the past", () => {
    const queue = new Agenda<string>();
    queue.plan(7, "seven");
    queue.take();
    equal(queue.nowNs, 7);
    throws(() => queue.plan(6, "six"), /before 7 ns/);
    throws(() => queue.plan(8.5, "between"));
  });
});
