import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "../base/testing/properties.ts";
import type { FaultAction } from "./action.ts";
import type { FaultEvent } from "./moment.ts";
import { parsePlan } from "./parse.ts";
import type { FaultPlan } from "./plan.ts";
import { FaultSchedule, type Living, type ScheduleState } from "./schedule.ts";
import { jobLayout, plans } from "./testing/plans.ts";

const allLive: Living = { isRankAlive: () => true, isNodeAlive: () => true };

function scheduleOf(
  plan: FaultPlan | string,
  { seed = 1, living = allLive, state }: Partial<Made> = {},
): FaultSchedule {
  const read = typeof plan === "string" ? parsePlan(plan) : plan;
  if (typeof read === "string") throw new Error(read);
  return new FaultSchedule(read, { seed, layout: jobLayout, living, state });
}

interface Made {
  readonly seed: number;
  readonly living: Living;
  readonly state: ScheduleState | undefined;
}

/** Calls `time` whenever the schedule asks for it, up to a time. */
function run(schedule: FaultSchedule, untilMs: number): [number, FaultAction][] {
  const done: [number, FaultAction][] = [];
  for (;;) {
    const atMs = schedule.nextTimeMs;
    if (atMs > untilMs) return done;
    for (const action of schedule.time(atMs)) done.push([atMs, action]);
  }
}

/** Everything that happens in a job, in some order. */
type Step = { readonly kind: "call"; readonly rank: number; readonly count: number } | FaultEvent;
const rank = fc.nat(7);
const set = fc.nat(3);
const number = fc.integer({ min: 1, max: 5 });
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("call" as const), rank, count: fc.integer({ min: 1, max: 60 }) }),
    fc.record({ kind: fc.constantFrom("init" as const, "finished" as const), rank }),
    fc.record({ kind: fc.constantFrom("checkpoint-asked" as const, "checkpoint-committed" as const), set, number }),
    fc.record({
      kind: fc.constant("image-stored" as const),
      set,
      number,
      stored: fc.constantFrom(1, 2),
      wanted: fc.constant(2),
    }),
    fc.record({ kind: fc.constantFrom("recovery" as const, "log-full" as const), set }),
  ),
  { maxLength: 100 },
);

function feed(schedule: FaultSchedule, all: readonly Step[], fromMs = 0): FaultAction[] {
  return all.flatMap((step, index) => {
    const nowMs = fromMs + index * 200;
    const due = schedule.time(nowMs);
    if (step.kind === "call") return [...due, ...schedule.call(step.rank, step.count, nowMs)];
    return [...due, ...schedule.event(step, nowMs)];
  });
}

describe("X3 the schedule of a fault plan: times", () => {
  it("an entry fires when its time has come, once", () => {
    const schedule = scheduleOf("kill rank 5 at 3s; kill node 2 at 1s");
    equal(schedule.nextTimeMs, 1000);
    deepEqual(schedule.time(999), []);
    deepEqual(schedule.time(1000), [{ entry: 2, kind: "kill-node", node: 2 }]);
    equal(schedule.nextTimeMs, 3000);
    deepEqual(schedule.time(60_000), [{ entry: 1, kind: "kill-ranks", ranks: [5] }]);
    equal(schedule.nextTimeMs, Number.POSITIVE_INFINITY);
    deepEqual(schedule.time(120_000), []);
  });

  it("late is in the order of times", () => {
    const entries = scheduleOf("kill rank 1 at 3s; kill rank 2 at 1s; kill rank 3 every 1s times 2").time(9000);
    deepEqual(
      entries.map(({ entry }) => entry),
      [2, 3, 3, 1],
    );
  });

  it("every: the first after a period, or at `from`; as often as it says", () => {
    const times = (text: string) => run(scheduleOf(text), 20_000).map(([atMs]) => atMs);
    deepEqual(times("kill node 0 every 5s"), [5000, 10_000, 15_000, 20_000]);
    deepEqual(times("kill node 0 every 5s from 2s times 3"), [2000, 7000, 12_000]);
    const apart = times("kill node 0 every 2s ±1s").map((atMs, index, all) => atMs - (all[index - 1] ?? 0));
    ok(apart.length >= 6 && apart.every((ms) => ms > 999 && ms < 3001), String(apart));
    ok(new Set(apart).size > 1);
  });

  it("U7 lifetimes drawn one after the other have the mean that was asked for", () => {
    const deaths = run(scheduleOf("kill node 0 every random exponential mean 1s"), 10_000_000);
    ok(Math.abs(deaths.length - 10_000) < 500, String(deaths.length));
  });

  it("what lasts ends", () => {
    const schedule = scheduleOf("stop node 2 at 1s for 500ms; cut link 3-* at 2s for 1s");
    deepEqual(
      run(schedule, 9000).map(([atMs, { entry: _, ...deed }]) => [atMs, deed]),
      [
        [1000, { kind: "stop-node", node: 2 }],
        [1500, { kind: "continue-node", node: 2 }],
        ...[0, 1, 2].map((node) => [2000, { kind: "cut-link", link: [node, 3] }]),
        ...[0, 1, 2].map((node) => [3000, { kind: "restore-link", link: [node, 3] }]),
      ],
    );
  });

  it("what lasts does so from when it was handed out", () => {
    const schedule = scheduleOf("delay link 0-1 by 20ms at 1s for 1s");
    deepEqual(schedule.time(1700), [{ entry: 1, kind: "delay-link", link: [0, 1], byMs: 20 }]);
    equal(schedule.nextTimeMs, 2700);
  });

  it("of two entries about the same node or link the later word counts", () => {
    const said = (text: string) => run(scheduleOf(text), 20_000).map(([atMs, { kind }]) => `${atMs} ${kind}`);
    deepEqual(said("stop node 1 at 1s for 2s; stop node 1 at 2s for 5s"), [
      "1000 stop-node",
      "2000 stop-node",
      "7000 continue-node",
    ]);
    deepEqual(said("cut link 0-1 at 1s for 5s; restore link 0-1 at 2s; cut link 0-1 at 3s"), [
      "1000 cut-link",
      "2000 restore-link",
      "3000 cut-link",
    ]);
    deepEqual(said("stop node 1 at 1s for 2s; stop node 0 at 2s; kill node 1 at 2s"), [
      "1000 stop-node",
      "2000 stop-node",
      "2000 kill-node",
      "3000 continue-node",
    ]);
  });
});

describe("X3 the schedule of a fault plan: calls", () => {
  it("a rank knows the next call that matters", () => {
    const schedule = scheduleOf("kill rank 5 at call 1000; kill node 2 at call 10; kill rank 1 at call 20 of rank 5");
    deepEqual(
      [5, 4, 1].map((it) => schedule.callsOf(it)),
      [20, 10, null],
    );
    deepEqual(schedule.call(5, 19, 0), []);
    deepEqual(schedule.call(5, 20, 0), [{ entry: 3, kind: "kill-ranks", ranks: [1] }]);
    equal(schedule.callsOf(5), 1000);
    deepEqual(schedule.call(4, 10, 0), [{ entry: 2, kind: "kill-node", node: 2 }]);
    deepEqual(schedule.call(5, 1000, 0), [{ entry: 1, kind: "kill-ranks", ranks: [5] }]);
    equal(schedule.callsOf(5), null);
  });

  it("a new life makes its calls again and does not die of them again", () => {
    const schedule = scheduleOf("kill rank 5 at call 7; kill rank 5 at call 9");
    equal(schedule.call(5, 7, 0).length, 1);
    equal(schedule.callsOf(5), 9);
    deepEqual(schedule.call(5, 7, 100), []);
    equal(schedule.call(5, 9, 100).length, 1);
  });

  it("what lasts after a call ends in time", () => {
    const schedule = scheduleOf("stop node 2 at call 7 for 500ms");
    deepEqual(schedule.call(4, 7, 1234), [{ entry: 1, kind: "stop-node", node: 2 }]);
    equal(schedule.nextTimeMs, 1734);
  });
});

describe("X3 the schedule of a fault plan: windows", () => {
  /** The steps at which the plan's only entry fires. */
  const firesAt = (text: string, events: readonly FaultEvent[]): number[] => {
    const schedule = scheduleOf(text);
    return events.flatMap((event, index) => (schedule.event(event, index).length > 0 ? [index] : []));
  };
  const checkpoint = (its: number, number: number): FaultEvent[] => [
    { kind: "checkpoint-asked", set: its, number },
    { kind: "image-stored", set: its, number, stored: 1, wanted: 2 },
    { kind: "image-stored", set: its, number, stored: 2, wanted: 2 },
    { kind: "checkpoint-committed", set: its, number },
  ];
  const two = [...checkpoint(1, 1), ...checkpoint(0, 2), ...checkpoint(1, 2)];

  it("checkpoints: before, while, commit, after; of the victim's set, of a set, of any", () => {
    deepEqual(firesAt("kill rank 2 at checkpoint before", two), [0]);
    deepEqual(firesAt("kill rank 2 at checkpoint 2 before", two), [8]);
    deepEqual(firesAt("kill node 1 at checkpoint 2 while", two), [9]);
    deepEqual(firesAt("kill set 1 at commit 2", two), [10]);
    deepEqual(firesAt("stop node 1 at checkpoint 2", two), [11]);
    deepEqual(firesAt("kill rank 2 at checkpoint 2 of set 0", two), [7]);
    deepEqual(firesAt("kill rank 2 at commit 2 of any set", two), [6]);
    deepEqual(firesAt("kill service checkpoint-server at commit 2", two), [6]);
    deepEqual(firesAt("kill random node at checkpoint", two), [3]);
    deepEqual(firesAt("kill rank 6 at checkpoint 2", two), []);
  });

  it("a checkpoint of one image is half done just before its commit", () => {
    const events: FaultEvent[] = [{ kind: "image-stored", set: 1, number: 1, stored: 1, wanted: 1 }];
    deepEqual(firesAt("kill rank 2 at checkpoint 1 while", events), [0]);
    deepEqual(firesAt("kill rank 2 at commit", events), [0]);
  });

  it("recoveries are counted for each set, or all of them", () => {
    const events = [1, 0, 1, 0, 1].map((its): FaultEvent => ({ kind: "recovery", set: its }));
    deepEqual(firesAt("kill rank 2 in recovery", events), [0]);
    deepEqual(firesAt("kill rank 2 in recovery number 2", events), [2]);
    deepEqual(firesAt("kill rank 2 in recovery of set 0", events), [1]);
    deepEqual(firesAt("kill rank 2 in recovery of any set number 2", events), [1]);
    deepEqual(firesAt("kill service event-logger in recovery number 5", events), [4]);
  });

  it("a log is full", () => {
    const events = [1, 0].map((its): FaultEvent => ({ kind: "log-full", set: its }));
    deepEqual(firesAt("kill rank 0 at log full", events), [1]);
    deepEqual(firesAt("kill rank 0 at log full of any set", events), [0]);
  });

  it("inside MPI_Init, of the victim's lowest rank", () => {
    const events = [0, 3, 2].map((its): FaultEvent => ({ kind: "init", rank: its }));
    deepEqual(firesAt("kill node 1 at init", events), [2]);
    deepEqual(firesAt("kill node 1 at init of rank 3", events), [1]);
    deepEqual(firesAt("cut link 0-1 at init", events), [0]);
    const schedule = scheduleOf("kill node 1 at init");
    deepEqual(
      [2, 3].map((its) => schedule.initMattersOf(its)),
      [true, false],
    );
    schedule.event({ kind: "init", rank: 2 }, 0);
    equal(schedule.initMattersOf(2), false);
  });

  it("when all the victim's ranks have finished, and the job has not", () => {
    const finish = (...ranks: readonly number[]) => ranks.map((its): FaultEvent => ({ kind: "finished", rank: its }));
    deepEqual(firesAt("kill node 1 at finish", finish(2, 0, 3, 1)), [2]);
    deepEqual(firesAt("kill rank 2 at finish", finish(0, 2)), [1]);
    deepEqual(firesAt("kill service event-logger at finish", finish(4, 2)), [0]);
    deepEqual(firesAt("kill rank 7 at finish", finish(0, 1, 2, 3, 4, 5, 6, 7)), []);
    // Set 1 rolls back and finishes again, so its ranks are not the last to finish.
    const rolledBack: FaultEvent[] = [...finish(0, 1, 2, 3, 4, 5, 6), { kind: "recovery", set: 1 }];
    deepEqual(firesAt("kill rank 7 at finish", [...rolledBack, ...finish(7, 2, 3)]), [8]);
  });
});

describe("X3 the schedule of a fault plan: random draws", () => {
  it("the same seed gives the same schedule, the plan's own before the job's", () => {
    fc.assert(
      fc.property(plans, steps, fc.nat(), (plan, happening, seed) => {
        const hasSeed = plan.entries.some(({ kind }) => kind === "seed");
        const other = scheduleOf(plan, { seed: hasSeed ? seed + 1 : seed });
        deepEqual(feed(scheduleOf(plan, { seed }), happening), feed(other, happening));
      }),
    );
  });

  it("another seed gives another one", () => {
    const times = [1, 2, 3, 4].map(
      (seed) => scheduleOf("kill rank 1 at random between 1s and 10s", { seed }).nextTimeMs,
    );
    equal(new Set(times).size, 4);
  });

  it("an entry more does not change the draws of those before it", () => {
    const text = "kill random node every random exponential mean 1s times 5";
    const alone = run(scheduleOf(text), 100_000);
    const both = run(scheduleOf(`${text}; kill random rank every 1s times 9`), 100_000);
    deepEqual(
      both.filter(([, { entry }]) => entry === 1),
      alone,
    );
  });

  it("everybody's turn comes", () => {
    const picked = run(scheduleOf("stop random node every 1s times 40"), 40_000);
    equal(new Set(picked.map(([, action]) => action.kind === "stop-node" && action.node)).size, 4);
  });

  it("never the dead, never the same twice at once, and nobody where nobody lives", () => {
    const living: Living = { isRankAlive: (its) => its % 2 === 1, isNodeAlive: (its) => its !== 3 };
    const some = (text: string, seed: number) => scheduleOf(text, { seed, living }).time(9000);
    for (let seed = 0; seed < 50; seed++) {
      const nodes = some("kill random node every 1s times 4", seed).map((it) => it.kind === "kill-node" && it.node);
      deepEqual(nodes.sort(), [0, 1, 2]);
      const ranks = some("kill node 0 at 1s; kill rank 3 at 1s; kill random rank every 1s from 2s times 3", seed);
      deepEqual(
        ranks
          .slice(2)
          .flatMap((it) => (it.kind === "kill-ranks" ? it.ranks : []))
          .sort(),
        [5, 7],
      );
      const stopped = some("kill node 0 at 1s; stop random node at 2s", seed)[1]!;
      ok(stopped.kind === "stop-node" && [1, 2].includes(stopped.node));
    }
  });
});

describe("X3 entries fire once per job", () => {
  it("whatever happens, in however many lives; `every` no more often than it says", () => {
    fc.assert(
      fc.property(plans, steps, (plan, happening) => {
        const actions = feed(scheduleOf(plan), [...happening, ...happening]);
        for (const [index, entry] of plan.entries.entries()) {
          const most = entry.kind === "fault" && entry.when.kind === "every" ? entry.when.times! : 1;
          // A fault of links is several actions; one of a rank or a node is one.
          const fired = actions.filter((it) => it.entry === index + 1 && /kill|stop/.test(it.kind)).length;
          ok(fired <= most, `entry ${index + 1} fired ${fired} times`);
        }
      }),
    );
  });

  it("also when the dispatcher dies: a schedule made from the state goes on as the old one would have", () => {
    fc.assert(
      fc.property(plans, steps, steps, (plan, before, after) => {
        const old = scheduleOf(plan);
        feed(old, before);
        const state = JSON.parse(JSON.stringify(old.state)) as ScheduleState;
        const fromMs = before.length * 200;
        const young = scheduleOf(plan, { state });
        equal(young.nextTimeMs, old.nextTimeMs);
        deepEqual(feed(young, after, fromMs), feed(old, after, fromMs));
        deepEqual(young.state, old.state);
      }),
    );
  });
});
