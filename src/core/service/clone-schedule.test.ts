import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import type { ProcessName } from "../base/identity.ts";
import { type CloneAttempt, CloneSchedule } from "./clone-schedule.ts";

/** What was asked and given up, as text. */
function scheduled(
  plan: readonly number[],
  hasPlace: (clone: ProcessName) => boolean = () => true,
  isAtOnce = true,
): { schedule: CloneSchedule; said: string[] } {
  const said: string[] = [];
  const text = ({ clone, life, source }: CloneAttempt): string =>
    `${clone.rank}.${clone.replica} life ${life} from ${source}`;
  const schedule: CloneSchedule = new CloneSchedule(plan, {
    copy: (attempt) => {
      if (isAtOnce) schedule.copied(attempt);
      else said.push(`copy ${text(attempt)}`);
    },
    ask: (attempt) => said.push(`ask ${text(attempt)}`),
    giveUp: (attempt) => said.push(`give up ${text(attempt)}`),
    hasPlace,
  });
  return { schedule, said };
}

/** The present attempt comes to its end. */
function bringBack(schedule: CloneSchedule): void {
  const attempt = schedule.present!;
  schedule.captured(attempt);
  equal(schedule.begin(attempt), true);
  schedule.back(attempt);
}

describe("R6 which replica comes back next", () => {
  it("R6 one after the other, each from the replica that performs for its rank", () => {
    const { schedule, said } = scheduled([3, 3]);
    schedule.died({ rank: 1, replica: 0 });
    schedule.died({ rank: 0, replica: 2 });
    deepEqual(said, ["ask 1.0 life 1 from 1"]);
    bringBack(schedule);
    deepEqual(said.slice(1), ["ask 0.2 life 2 from 0"]);
    bringBack(schedule);
    equal(schedule.present, null);
    equal(schedule.isAlive({ rank: 1, replica: 0 }), true);
  });

  it("R6 a source that dies before the clone has begun ends the attempt, and another one begins in a later life", () => {
    const { schedule, said } = scheduled([3]);
    schedule.died({ rank: 0, replica: 0 });
    schedule.captured(schedule.present!);
    schedule.died({ rank: 0, replica: 1 });
    deepEqual(said, ["ask 0.0 life 1 from 1", "give up 0.0 life 1 from 1", "ask 0.0 life 2 from 2"]);
    bringBack(schedule);
    equal(said.at(-1), "ask 0.1 life 3 from 2");
  });

  it("R6 a clone that has begun needs its source no more, and its death is a death like any other", () => {
    const { schedule, said } = scheduled([2]);
    schedule.died({ rank: 0, replica: 1 });
    const attempt = schedule.present!;
    schedule.captured(attempt);
    schedule.begin(attempt);
    schedule.died({ rank: 0, replica: 0 });
    equal(said.length, 1);
    schedule.back(attempt);
    deepEqual(said.slice(1), ["ask 0.0 life 2 from 1"]);
    const second = schedule.present!;
    schedule.captured(second);
    schedule.begin(second);
    schedule.died({ rank: 0, replica: 0 });
    deepEqual(said.slice(2), ["ask 0.0 life 3 from 1"]);
    equal(schedule.begin(second), false, "an image that comes late is of no use");
  });

  it("D2 nobody is asked while the source runs and is copied; if it dies then, another one is", () => {
    const { schedule, said } = scheduled([3], () => true, false);
    schedule.died({ rank: 0, replica: 0 });
    const first = schedule.present!;
    schedule.died({ rank: 0, replica: 1 });
    schedule.copied(first);
    deepEqual(said, ["copy 0.0 life 1 from 1", "give up 0.0 life 1 from 1", "copy 0.0 life 2 from 2"]);
    const second = schedule.present!;
    equal(schedule.begin(second), false, "nothing begins before it is captured");
    schedule.copied(second);
    schedule.copied(second);
    deepEqual(said.slice(3), ["ask 0.0 life 2 from 2"]);
    const over = scheduled([2], () => true, false);
    over.schedule.died({ rank: 0, replica: 1 });
    over.schedule.refused(0);
    deepEqual(over.said, ["copy 0.1 life 1 from 0", "give up 0.1 life 1 from 0"]);
  });

  it("R6 nothing is tried for ever: a program that is over, an image that is never any good, a rank without replicas", () => {
    const over = scheduled([2]);
    over.schedule.died({ rank: 0, replica: 1 });
    over.schedule.refused(0);
    deepEqual(over.said, ["ask 0.1 life 1 from 0", "give up 0.1 life 1 from 0"]);
    const bad = scheduled([2]);
    bad.schedule.died({ rank: 0, replica: 1 });
    for (let i = 0; i < 20; i++) if (bad.schedule.present !== null) bad.schedule.failed(bad.schedule.present);
    equal(bad.said.filter((line) => line.startsWith("ask")).length, 5);
    const nowhere = scheduled([2, 2], ({ rank }) => rank === 1);
    nowhere.schedule.died({ rank: 0, replica: 1 });
    nowhere.schedule.died({ rank: 1, replica: 1 });
    deepEqual(nowhere.said, ["ask 1.1 life 1 from 0"]);
    const only = scheduled([1, 2]);
    only.schedule.died({ rank: 0, replica: 0 });
    equal(only.said.length, 0);
  });
});

describe("D5 a living replica goes on elsewhere", () => {
  it("D5 as the source of its own next life, one after the other, behind those that are lost", () => {
    const { schedule, said } = scheduled([2, 2]);
    schedule.died({ rank: 0, replica: 1 });
    schedule.move({ rank: 1, replica: 1 });
    schedule.move({ rank: 1, replica: 0 });
    bringBack(schedule);
    bringBack(schedule);
    schedule.died({ rank: 0, replica: 0 });
    bringBack(schedule);
    bringBack(schedule);
    deepEqual(said, [
      "ask 0.1 life 1 from 0",
      "ask 1.1 life 2 from 1",
      "ask 1.0 life 3 from 0",
      "ask 0.0 life 4 from 1",
    ]);
    equal(schedule.present, null);
    equal(schedule.isAlive({ rank: 1, replica: 0 }), true);
  });

  it("D5 an attempt that comes to nothing leaves it alive where it is, and is not repeated", () => {
    for (const end of ["failed", "refused"] as const) {
      const { schedule, said } = scheduled([2]);
      schedule.move({ rank: 0, replica: 1 });
      if (end === "failed") schedule.failed(schedule.present!);
      else schedule.refused(0);
      deepEqual(said, ["ask 0.1 life 1 from 1", "give up 0.1 life 1 from 1"]);
      equal(schedule.present, null);
      equal(schedule.isAlive({ rank: 0, replica: 1 }), true);
    }
  });

  it("D5 one that dies before it has begun elsewhere, or afterwards, comes back as a clone of another; its twin's death changes nothing", () => {
    for (const step of ["copying", "asked", "moving", "joining"] as const) {
      const { schedule, said } = scheduled([2], () => true, step !== "copying");
      schedule.move({ rank: 0, replica: 1 });
      const attempt = schedule.present!;
      if (step === "moving" || step === "joining") schedule.captured(attempt);
      if (step === "joining") equal(schedule.begin(attempt), true);
      schedule.died({ rank: 0, replica: 0 });
      equal(schedule.present?.life, 1);
      schedule.died({ rank: 0, replica: 1 });
      // Nobody is left to clone it from.
      equal(schedule.present, null);
      equal(said.includes("give up 0.1 life 1 from 1"), step !== "joining");
    }
    const { schedule, said } = scheduled([2]);
    schedule.move({ rank: 0, replica: 1 });
    schedule.died({ rank: 0, replica: 1 });
    deepEqual(said, ["ask 0.1 life 1 from 1", "give up 0.1 life 1 from 1", "ask 0.1 life 2 from 0"]);
  });

  it("D5 one that dies before its turn, and comes back, is not moved any more", () => {
    const { schedule, said } = scheduled([2, 2]);
    schedule.move({ rank: 0, replica: 0 });
    schedule.move({ rank: 1, replica: 1 });
    schedule.died({ rank: 1, replica: 1 });
    bringBack(schedule);
    bringBack(schedule);
    deepEqual(said, ["ask 0.0 life 1 from 0", "ask 1.1 life 2 from 0"]);
    equal(schedule.present, null);
  });

  it("D5 one that is dead when its turn comes is passed over", () => {
    const { schedule, said } = scheduled([2, 2], ({ rank }) => rank !== 1);
    schedule.move({ rank: 0, replica: 0 });
    schedule.move({ rank: 1, replica: 1 });
    schedule.died({ rank: 1, replica: 1 });
    bringBack(schedule);
    deepEqual(said, ["ask 0.0 life 1 from 0"]);
    equal(schedule.present, null);
  });
});
