/** The dispatcher's decisions, without a process or a clock. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Dispatcher, type DispatcherOptions } from "./dispatcher.ts";
import type { Death, JobOutcome, Reason } from "./outcome.ts";
import { placedInBlocks, placedWithSpares, placementOf } from "./placement.ts";

const returned = { kind: "returned" } as const;
const exited = (code: number) => ({ kind: "exited", code }) as const;
const killed = { kind: "signal", signal: "SIGKILL", signalNumber: 9 } as const;
const left = { kind: "exit", code: 0 } as const;

/** A dispatcher for `ranks` on `nodes`, and everything it asks of the world, in order. */
function world(ranks: number, nodes: number, changes: Partial<DispatcherOptions> = {}) {
  const asked: string[] = [];
  const deaths: Death[] = [];
  const survived: Reason[] = [];
  /** What the operating system has seen each node do. */
  const work = new Array<number>(nodes).fill(0);
  const vacant = new Set<number>();
  let ended: JobOutcome | undefined;
  const dispatcher = new Dispatcher(
    {
      ranks,
      placement: placedInBlocks(ranks, nodes),
      nodes,
      heartbeatMs: 100,
      patienceMs: 750,
      starvedPatienceMs: 3000,
      startPatienceMs: 5000,
      starvedStartPatienceMs: 40_000,
      endPatienceMs: 1000,
      timeoutMs: Number.POSITIVE_INFINITY,
      deaths: "fatal",
      ...changes,
    },
    {
      record: () => undefined,
      tell(death) {
        deaths.push(death);
        asked.push(`tell ${death.rank}`);
      },
      left: (rank) => asked.push(`left ${rank}`),
      decided: ({ code, reason }) => asked.push(`decided ${reason.kind} ${code}`),
      survived: (reason) => survived.push(reason),
      restart: (node, its) => asked.push(`restart ${node}: ${its.join()}`),
      restartRanks: (node, its) => asked.push(`restart on ${node}: ${its.join()}`),
      endRanks: (node, its) => asked.push(`end on ${node}: ${its.join()}`),
      disown: (node) => asked.push(`disown ${node}`),
      work: (node) => work[node]!,
      isVacant: (node) => vacant.has(node),
      end: (node) => asked.push(`end ${node}`),
      kill: (node) => asked.push(`kill ${node}`),
      ended(outcome) {
        ended = outcome;
        asked.push("ended");
      },
    },
    0,
  );
  let nowMs = 0;
  /** A heartbeat's time later, which is returned. */
  const tick = (): number => {
    nowMs += 100;
    dispatcher.tick(nowMs);
    return nowMs;
  };
  return { dispatcher, asked, deaths, survived, work, vacant, tick, outcome: () => ended };
}

test("ranks lie in blocks, the first nodes hold one more", () => {
  assert.deepEqual(placedInBlocks(7, 3), [0, 0, 0, 1, 1, 2, 2]);
  assert.deepEqual(placedInBlocks(4, 4), [0, 1, 2, 3]);
  for (let ranks = 1; ranks <= 12; ranks++) {
    for (let nodes = 1; nodes <= ranks; nodes++) {
      const placement = placedInBlocks(ranks, nodes);
      assert.equal(placement.length, ranks);
      assert.equal(new Set(placement).size, nodes);
      assert.deepEqual(
        placement,
        placement.toSorted((a, b) => a - b),
      );
    }
  }
});

test("the job finishes when every rank has, and is over when every node is gone", () => {
  const { dispatcher, asked, outcome } = world(3, 2);
  for (const rank of [2, 0, 1]) dispatcher.rankEnded(rank, 0, returned, 500);
  assert.deepEqual(asked, ["decided finished 0", "end 0", "end 1"]);
  dispatcher.nodeEnded(1, left, 510);
  assert.equal(outcome(), undefined);
  dispatcher.nodeEnded(0, left, 520);
  assert.deepEqual(outcome(), { code: 0, reason: { kind: "finished" }, afterMs: 500 });
});

test("the first failure decides; what fails while the job ends changes nothing", () => {
  const { dispatcher, asked, outcome } = world(4, 2);
  dispatcher.rankEnded(2, 0, exited(3), 10);
  dispatcher.rankEnded(0, 0, exited(4), 11);
  dispatcher.nodeEnded(0, killed, 12);
  dispatcher.aborted(3, { code: 5, message: "", members: [] }, 13);
  dispatcher.nodeEnded(1, killed, 14);
  assert.deepEqual(asked, ["tell 2", "decided rank-failed 3", "end 0", "end 1", "ended"]);
  assert.equal(outcome()?.code, 3);
});

test("a node that is gone takes its running ranks with it, in one order, and none that had finished", () => {
  const { dispatcher, deaths, outcome } = world(6, 2);
  dispatcher.rankEnded(4, 0, returned, 10);
  dispatcher.nodeEnded(1, killed, 20);
  assert.deepEqual(deaths, [
    { order: 0, rank: 3, incarnation: 0 },
    { order: 1, rank: 5, incarnation: 0 },
  ]);
  dispatcher.nodeEnded(0, left, 30);
  assert.equal(outcome()?.code, 137);
});

test("a node whose ranks have all finished is missed by nobody", () => {
  const { dispatcher, asked, outcome } = world(2, 2);
  dispatcher.rankEnded(1, 0, returned, 10);
  dispatcher.nodeEnded(1, killed, 20);
  assert.deepEqual(asked, []);
  dispatcher.rankEnded(0, 0, returned, 30);
  assert.deepEqual(asked, ["decided finished 0", "end 0"]);
  dispatcher.nodeEnded(0, left, 40);
  assert.equal(outcome()?.code, 0);
});

test("a silent node is killed before its death is told, within a second", () => {
  const { dispatcher, asked } = world(2, 2);
  dispatcher.heard(0);
  dispatcher.heard(1);
  let ms = 0;
  while (asked.length === 0) {
    ms += 100;
    dispatcher.heard(0);
    dispatcher.tick(ms);
  }
  assert.equal(ms, 800);
  assert.deepEqual(asked, ["kill 1", "tell 1", "decided node-failed 1", "end 0", "end 1"]);
});

test("a silent node that the operating system sees at work is starved, not dead; when it stops working it is dead soon", () => {
  const { dispatcher, asked, work, tick } = world(1, 1);
  dispatcher.heard(0);
  for (let i = 0; i < 20; i++) {
    work[0]!++;
    tick();
  }
  assert.deepEqual(asked, []);
  for (let i = 0; i < 3; i++) tick();
  assert.deepEqual(asked, []);
  tick();
  assert.equal(asked[0], "kill 0");
});

test("a node that was stopped while it was starved is noticed as soon as one that was not, or half the patience later", () => {
  for (let stoppedMs = 0; stoppedMs < 2000; stoppedMs += 100) {
    const { dispatcher, asked, work, tick } = world(1, 1);
    dispatcher.heard(0);
    for (let nowMs = 0; asked.length === 0; ) {
      if (nowMs < stoppedMs) work[0]!++;
      nowMs = tick();
      if (asked.length > 0)
        assert.equal(nowMs, stoppedMs < 500 ? 800 : stoppedMs + 400, `stopped after ${stoppedMs} ms`);
    }
  }
});

test("a node that works and says nothing for very long hangs: it is dead", () => {
  const { dispatcher, asked, work, tick } = world(1, 1);
  dispatcher.heard(0);
  for (let i = 0; i < 30; i++) {
    work[0]!++;
    tick();
  }
  assert.deepEqual(asked, []);
  work[0]!++;
  tick();
  assert.equal(asked[0], "kill 0");
});

test("M8 a node that has not spoken yet is given up when it has not been at work for the patience of a start", () => {
  for (const workedMs of [0, 300, 4900, 20_000]) {
    const { asked, work, tick } = world(1, 1);
    let nowMs = 0;
    while (asked.length === 0) {
      if (nowMs < workedMs) work[0]!++;
      nowMs = tick();
    }
    assert.equal(asked[0], "kill 0");
    // Work is looked for when half a patience has passed in silence.
    assert.equal(nowMs, (workedMs > 400 ? workedMs : 0) + 5100, `at work for ${workedMs} ms`);
  }
});

test("M8 a node whose start is at work for very long hangs: it is dead", () => {
  const { asked, work, tick } = world(1, 1);
  let nowMs = 0;
  while (asked.length === 0) {
    work[0]!++;
    nowMs = tick();
  }
  assert.equal(asked[0], "kill 0");
  assert.equal(nowMs, 40_100);
});

test("work counts in the silence it was seen in, not in the next", () => {
  const { dispatcher, asked, work, tick } = world(1, 1);
  for (let round = 0; round < 3; round++) {
    dispatcher.heard(0);
    for (let i = 0; i < 7; i++) tick();
    work[0]!++;
  }
  assert.deepEqual(asked, []);
  dispatcher.heard(0);
  for (let i = 0; i < 8; i++) tick();
  assert.equal(asked[0], "kill 0");
});

test("V9: nobody is silent in a place that no process has; who takes it has all the time to begin", () => {
  const { dispatcher, asked, vacant, tick } = world(2, 2);
  vacant.add(1);
  for (let i = 0; i < 1000; i++) {
    dispatcher.heard(0);
    tick();
  }
  assert.deepEqual(asked, []);
  vacant.delete(1);
  for (let i = 0; i < 45; i++) {
    dispatcher.heard(0);
    tick();
  }
  assert.deepEqual(asked, [], "less than the patience for a beginning");
  for (let i = 0; i < 10; i++) {
    dispatcher.heard(0);
    tick();
  }
  assert.deepEqual(asked.slice(0, 1), ["kill 1"]);
});

test("a watcher that was away does not count its absence as silence", () => {
  const { dispatcher, asked } = world(2, 1);
  dispatcher.heard(0);
  dispatcher.tick(100);
  dispatcher.tick(60_000);
  dispatcher.tick(60_100);
  assert.deepEqual(asked, []);
  dispatcher.heard(0);
  for (let ms = 60_200; ms < 60_900; ms += 100) dispatcher.tick(ms);
  assert.deepEqual(asked, []);
});

test("before its first sign of life a node is given more time", () => {
  const { dispatcher, asked } = world(1, 1);
  for (let ms = 100; ms <= 5000; ms += 100) dispatcher.tick(ms);
  assert.deepEqual(asked, []);
  dispatcher.tick(5100);
  assert.equal(asked[0], "kill 0");
});

test("nodes that do not end in time are killed", () => {
  const { dispatcher, asked, outcome } = world(2, 2);
  dispatcher.aborted(0, { code: 6, message: "enough", members: [] }, 0);
  dispatcher.nodeEnded(1, left, 50);
  for (let ms = 100; ms <= 1100; ms += 100) dispatcher.tick(ms);
  assert.deepEqual(asked, ["decided aborted 6", "end 0", "end 1", "kill 0"]);
  dispatcher.nodeEnded(0, killed, 1200);
  assert.equal(outcome()?.code, 6);
});

test("interrupted once: in order; twice, or while ending: at once", () => {
  const { dispatcher, asked } = world(2, 2);
  dispatcher.interrupted("SIGINT", 2, 10);
  assert.deepEqual(asked, ["decided interrupted 130", "end 0", "end 1"]);
  dispatcher.interrupted("SIGINT", 2, 20);
  assert.deepEqual(asked.slice(3), ["kill 0", "kill 1"]);
});

test("the job's time is over: code 124", () => {
  const { dispatcher, asked } = world(1, 1, { timeoutMs: 1000 });
  dispatcher.heard(0);
  dispatcher.tick(1001);
  assert.equal(asked[0], "decided timeout 124");
});

test("where deaths are survived the job's code is that of the survivors", () => {
  const { dispatcher, deaths, survived, asked } = world(3, 3, { deaths: "survived" });
  dispatcher.rankEnded(1, 0, exited(7), 10);
  dispatcher.rankEnded(0, 0, { kind: "finalized", code: 3 }, 20);
  assert.deepEqual(deaths, [{ order: 0, rank: 1, incarnation: 0 }]);
  assert.equal(survived.length, 2);
  dispatcher.rankEnded(2, 0, returned, 30);
  assert.deepEqual(asked, ["tell 1", "left 0", "left 2", "decided finished 3", "end 0", "end 1", "end 2"]);
});

test("U1 where deaths are survived the living hear of those that have left, before the death and after it", () => {
  const { dispatcher, asked } = world(4, 4, { deaths: "survived" });
  dispatcher.rankEnded(0, 0, returned, 10);
  assert.deepEqual(asked, []);
  dispatcher.nodeEnded(1, killed, 20);
  dispatcher.rankEnded(2, 0, returned, 30);
  assert.deepEqual(asked, ["tell 1", "left 0", "left 2"]);
});

test("a code after MPI_Finalize ends the job where deaths are fatal", () => {
  const { dispatcher, asked } = world(2, 1);
  dispatcher.rankEnded(0, 0, { kind: "finalized", code: 3 }, 20);
  assert.deepEqual(asked.slice(0, 2), ["tell 0", "decided rank-failed 3"]);
});

test("where deaths are survived the living are told and go on", () => {
  const { dispatcher, deaths, survived, asked } = world(3, 3, { deaths: "survived" });
  dispatcher.nodeEnded(1, killed, 10);
  dispatcher.rankEnded(2, 0, exited(1), 20);
  assert.deepEqual(
    deaths.map(({ order, rank }) => [order, rank]),
    [
      [0, 1],
      [1, 2],
    ],
  );
  assert.equal(survived.length, 2);
  dispatcher.rankEnded(0, 0, returned, 30);
  assert.deepEqual(asked.slice(2), ["left 0", "decided finished 0", "end 0", "end 2"]);
});

test("V1: where the dead are replaced a lost node is told of and started again, its ranks in their next life", () => {
  const { dispatcher, deaths, asked } = world(4, 2, { deaths: "replaced" });
  dispatcher.nodeEnded(1, killed, 10);
  assert.deepEqual(asked, ["tell 2", "tell 3", "restart 1: 2,3"]);
  dispatcher.rankEnded(2, 0, exited(1), 20);
  assert.equal(dispatcher.outcome, undefined, "the old life's end means nothing");
  dispatcher.nodeEnded(1, killed, 30);
  assert.deepEqual(
    deaths.map(({ rank, incarnation }) => [rank, incarnation]),
    [
      [2, 0],
      [3, 0],
      [2, 1],
      [3, 1],
    ],
  );
});

test("rule 9: who is done is missed all the same, until everybody is", () => {
  const { dispatcher, asked } = world(2, 2, { deaths: "replaced" });
  dispatcher.rankDone(0, 0, 10);
  dispatcher.nodeEnded(0, killed, 20);
  assert.deepEqual(asked, ["tell 0", "restart 0: 0"]);
  dispatcher.rankDone(1, 0, 30);
  assert.equal(dispatcher.outcome, undefined);
  dispatcher.rankDone(0, 0, 40);
  assert.equal(dispatcher.outcome, undefined, "the old life was done, the new one is not");
  dispatcher.rankDone(0, 1, 50);
  assert.deepEqual(asked.slice(2), ["decided finished 0", "end 0", "end 1"]);
});

test("rule 10: a program's own end ends the job, a terminated thread takes its node with it", () => {
  const { dispatcher, asked } = world(2, 2, { deaths: "replaced" });
  dispatcher.rankEnded(0, 0, { kind: "vanished", code: 1 }, 10);
  assert.deepEqual(asked, ["kill 0"]);
  dispatcher.rankEnded(1, 0, exited(3), 20);
  assert.deepEqual(asked.slice(1), ["decided rank-failed 3", "end 0", "end 1"]);
});

test("V1: a rank that vanishes is started again alone, in its node, where its set is smaller than the node", () => {
  const { dispatcher, deaths, asked, survived } = world(4, 2, { deaths: "replaced", setOf: [0, 1, 2, 2] });
  const vanished = { kind: "vanished", code: 1 } as const;
  dispatcher.rankEnded(1, 0, vanished, 10);
  assert.deepEqual(asked, ["tell 1", "restart on 0: 1"]);
  assert.equal(survived[0]?.kind, "rank-failed");
  dispatcher.rankEnded(1, 0, vanished, 20);
  assert.equal(asked.length, 2, "the old life's end is known");
  dispatcher.rankEnded(2, 0, vanished, 30);
  assert.deepEqual(asked.slice(2), ["kill 1"], "a set that is the whole node goes with it");
  dispatcher.nodeEnded(0, killed, 40);
  assert.deepEqual(
    deaths.map(({ rank, incarnation }) => [rank, incarnation]),
    [
      [1, 0],
      [0, 0],
      [1, 1],
    ],
  );
});

test("V1: all of a set begin again when one of them vanishes, also those whose program is over", () => {
  const { dispatcher, asked } = world(3, 1, { deaths: "replaced", setOf: [0, 0, 1] });
  dispatcher.rankDone(1, 0, 10);
  dispatcher.rankEnded(1, 0, { kind: "vanished", code: 1 }, 20);
  assert.deepEqual(asked, ["tell 0", "tell 1", "restart on 0: 0,1"]);
  for (const rank of [0, 1]) dispatcher.rankDone(rank, 1, 30);
  dispatcher.rankDone(2, 0, 40);
  assert.deepEqual(asked.slice(3), ["decided finished 0", "end 0"]);
});

test("V1: a lost node takes the members of its sets on other nodes with it; these begin again where they are", () => {
  const { dispatcher, deaths, asked } = world(6, 3, { deaths: "replaced", setOf: [0, 1, 1, 2, 2, 3] });
  dispatcher.nodeEnded(1, killed, 10);
  assert.deepEqual(asked, ["tell 1", "tell 2", "tell 3", "tell 4", "restart 1: 1,2,3,4"]);
  assert.ok([0, 2].every((node) => dispatcher.isNodeAlive(node)));
  dispatcher.rankEnded(1, 0, { kind: "vanished", code: 1 }, 20);
  assert.equal(asked.length, 5, "the old life of a member elsewhere ends when it is told to, and that is known");
  dispatcher.nodeEnded(2, killed, 30);
  assert.deepEqual(asked.slice(5), ["tell 3", "tell 4", "tell 5", "restart 2: 3,4,5"]);
  assert.deepEqual(
    deaths.slice(4).map(({ rank, incarnation }) => [rank, incarnation]),
    [
      [3, 1],
      [4, 1],
      [5, 0],
    ],
  );
});

test("V1: all members of a set begin again when one vanishes, on whichever nodes they are, and nobody else", () => {
  const { dispatcher, asked } = world(6, 3, { deaths: "replaced", setOf: [0, 1, 2, 1, 3, 1] });
  dispatcher.rankDone(5, 0, 10);
  dispatcher.rankEnded(3, 0, { kind: "vanished", code: 1 }, 20);
  assert.deepEqual(asked, ["tell 1", "tell 3", "tell 5", "restart on 1: 1,3,5"]);
  for (const rank of [1, 3, 5]) dispatcher.rankDone(rank, 1, 30);
  for (const rank of [0, 2, 4]) dispatcher.rankDone(rank, 0, 40);
  assert.deepEqual(asked.slice(4), ["decided finished 0", "end 0", "end 1", "end 2"]);
});

test("V1: a set that is a whole node and a part of another goes with the node of the rank that vanished", () => {
  const { dispatcher, asked } = world(4, 2, { deaths: "replaced", setOf: [0, 0, 0, 1] });
  dispatcher.rankEnded(0, 0, { kind: "vanished", code: 1 }, 10);
  assert.deepEqual(asked, ["kill 0"]);
  dispatcher.nodeEnded(0, killed, 20);
  assert.deepEqual(asked.slice(1), ["tell 0", "tell 1", "tell 2", "restart 0: 0,1,2"]);
});

test("V1: where the dead are not replaced nobody falls with others but those of a node", () => {
  const { dispatcher, asked } = world(4, 2, { deaths: "survived", setOf: [0, 1, 0, 1] });
  dispatcher.nodeEnded(1, killed, 10);
  assert.deepEqual(asked, ["tell 2", "tell 3"]);
});

test("rule 10: a rank that vanishes again and again ends the job", () => {
  const { dispatcher, asked } = world(2, 1, { deaths: "replaced", setOf: [0, 1] });
  for (let life = 0; life < 4; life++) {
    dispatcher.falls.caughtUp(1);
    dispatcher.rankEnded(1, life, { kind: "vanished", code: 1 }, life);
  }
  assert.deepEqual(asked.slice(-2), ["decided rank-failed 1", "end 0"]);
});

test("V1: a suspect may be left alive: then it is disowned before anybody hears of its death", () => {
  const { dispatcher, asked, tick } = world(2, 2, { deaths: "replaced", keepSuspects: true });
  for (const node of [0, 1]) dispatcher.heard(node);
  while (asked.length === 0) {
    dispatcher.heard(0);
    tick();
  }
  assert.deepEqual(asked, ["disown 1", "tell 1", "restart 1: 1"]);
});

test("rule 10: a node that falls again and again at the same call ends the job, and the outcome says so", () => {
  const { dispatcher, asked } = world(2, 2, { deaths: "replaced" });
  const fall = (calls: number): void => {
    dispatcher.falls.passed(1, calls);
    dispatcher.falls.caughtUp(1);
    dispatcher.nodeEnded(1, killed, calls);
  };
  for (let life = 0; life < 20; life++) fall(life);
  assert.equal(asked.at(-1), "restart 1: 1");
  for (let life = 0; life < 3; life++) fall(19);
  assert.deepEqual(asked.slice(-2), ["decided node-failed 137", "end 0"]);
  const reason = dispatcher.outcome?.reason;
  assert(reason?.kind === "node-failed");
  assert.deepEqual(reason.givenUp, { rule: "same-call", falls: 4 });
});

test("the end of an old life means nothing", () => {
  const { dispatcher, asked } = world(1, 1);
  dispatcher.rankEnded(0, 1, exited(1), 10);
  assert.deepEqual(asked, []);
});

test("a code that was not 0 never becomes 0; MPI_Abort may say 0", () => {
  const big = world(1, 1);
  big.dispatcher.rankEnded(0, 0, exited(512), 10);
  assert.equal(big.dispatcher.outcome?.code, 1);
  const abort = world(1, 1);
  abort.dispatcher.aborted(0, { code: 0, message: "", members: [] }, 10);
  assert.equal(abort.dispatcher.outcome?.code, 0);
});

test("§11.8 processes that are admitted count as any other: the job ends when they have", () => {
  const { dispatcher, asked } = world(2, 2, { placement: placedWithSpares(2, 2) });
  assert.deepEqual(dispatcher.admit(3), [2, 3, 4]);
  for (const rank of [0, 1, 2, 3]) dispatcher.rankEnded(rank, 0, returned, 10);
  assert.deepEqual(asked, []);
  dispatcher.rankEnded(4, 0, returned, 20);
  assert.deepEqual(asked, ["decided finished 0", "end 0", "end 1"]);
  assert.equal(dispatcher.admit(1), undefined, "nobody joins a job that is over");
});

test("§11.8 a process that was admitted and fails ends the job as any other", () => {
  const { dispatcher, asked } = world(2, 2, { placement: placedWithSpares(2, 2) });
  assert.deepEqual(dispatcher.admit(2), [2, 3]);
  dispatcher.rankEnded(3, 0, { kind: "exited", code: 7 }, 10);
  assert.deepEqual(asked, ["tell 3", "decided rank-failed 7", "end 0", "end 1"]);
});

test("§11.8 numbers are given once, only on nodes that live, and all that are wanted or none", () => {
  const { dispatcher } = world(2, 2, { placement: placementOf([0, 1, 0, 1, 0, 1]), deaths: "survived" });
  assert.equal(dispatcher.admit(5), undefined);
  assert.equal(dispatcher.spares, 4);
  const admitted = dispatcher.admit(1)!;
  dispatcher.withdraw(admitted);
  dispatcher.rankEnded(admitted[0]!, 0, { kind: "vanished", code: 1 }, 5);
  assert.equal(dispatcher.outcome, undefined, "whatever becomes of one that was withdrawn concerns nobody");
  dispatcher.nodeEnded(1, { kind: "exit", code: 1 }, 10);
  assert.equal(dispatcher.spares, 1);
  assert.deepEqual(dispatcher.admit(1), [4]);
  assert.equal(dispatcher.admit(1), undefined);
});

test("U1 MPI_Abort of some: its members are dead and end, and the others go on", () => {
  const { dispatcher, asked, deaths, survived, outcome } = world(4, 2, { deaths: "survived" });
  const abort = { code: 5, message: "MPI_Abort", members: [1, 3] };
  dispatcher.aborted(1, abort, 10);
  assert.deepEqual(
    deaths.map(({ rank }) => rank),
    [1, 3],
  );
  assert.deepEqual(asked, ["tell 1", "tell 3", "end on 0: 1", "end on 1: 3"]);
  assert.equal(survived.length, 1);
  // Its thread's own end, and another word of a rank that is dead, mean nothing.
  dispatcher.rankEnded(3, 0, exited(5), 11);
  dispatcher.aborted(3, { ...abort, members: [3, 0] }, 12);
  for (const rank of [0, 2]) dispatcher.rankEnded(rank, 0, returned, 20);
  for (const node of [0, 1]) dispatcher.nodeEnded(node, left, 30);
  assert.equal(outcome()?.code, 0);
});

test("U1 MPI_Abort of all that run, of no communicator in particular, or under another protocol ends the job", () => {
  const of = (members: readonly number[]) => ({ code: 5, message: "", members });
  const survivor = world(3, 1, { deaths: "survived" });
  survivor.dispatcher.rankEnded(2, 0, exited(1), 5);
  survivor.dispatcher.aborted(0, of([0, 1]), 10);
  assert.equal(survivor.asked.at(-2), "decided aborted 5");
  const whole = world(3, 1, { deaths: "survived" });
  whole.dispatcher.aborted(0, of([]), 10);
  const fatal = world(3, 1);
  fatal.dispatcher.aborted(0, of([0]), 10);
  for (const { asked } of [whole, fatal]) assert.deepEqual(asked, ["decided aborted 5", "end 0"]);
});

/** Two ranks, two processes each: 0 and 1 on node 0, 2 and 3 on node 1. */
const covered = () => world(4, 2, { deaths: "covered", plays: [0, 1, 0, 1] });

test("R4 deaths that are covered: the others are told and go on", () => {
  const { dispatcher, asked, survived } = covered();
  dispatcher.nodeEnded(0, killed, 100);
  assert.deepEqual(asked, ["tell 0", "tell 1"]);
  assert.deepEqual(
    survived.map(({ kind }) => kind),
    ["node-failed"],
  );
  for (const rank of [2, 3]) dispatcher.rankDone(rank, 0, 200);
  assert.deepEqual(asked.slice(2), ["decided finished 0", "end 1"]);
});

test("R4 the last process that plays a rank: its death ends the job, and the reason names the rank", () => {
  const { dispatcher, asked, survived } = covered();
  dispatcher.rankEnded(1, 0, { kind: "vanished", code: 1 }, 100);
  assert.equal(survived.length, 1);
  dispatcher.nodeEnded(1, killed, 200);
  assert.deepEqual(asked, ["tell 1", "tell 2", "tell 3", "decided node-failed 137", "end 0"]);
  const reason = dispatcher.outcome?.reason;
  assert.deepEqual(reason?.kind === "node-failed" && reason.unplayed, [1]);
});

test("R4 a process that dies when all others are done: the job has finished", () => {
  const { dispatcher, asked, survived } = covered();
  for (const rank of [0, 1, 3]) dispatcher.rankDone(rank, 0, 100);
  dispatcher.rankEnded(2, 0, { kind: "vanished", code: 1 }, 200);
  assert.deepEqual(asked, ["tell 2", "decided finished 0", "end 0", "end 1"]);
  assert.equal(survived.length, 1);
});

test("rule 10: where deaths are covered too a program's own end is none of them", () => {
  const { dispatcher, asked } = covered();
  dispatcher.rankEnded(2, 0, exited(3), 100);
  assert.deepEqual(asked, ["decided rank-failed 3", "end 0", "end 1"]);
});

test("R6 deaths that are covered: a process that is back counts as living, in its present life alone", () => {
  const { dispatcher, asked, deaths } = covered();
  assert.equal(dispatcher.nodeAgain(0), false, "it is there");
  dispatcher.nodeEnded(0, killed, 100);
  assert.equal(dispatcher.nodeAgain(0), true);
  assert.equal(dispatcher.isNodeAlive(0), true);
  dispatcher.rankMissed(0, 1);
  assert.deepEqual(deaths.at(-1), { order: 2, rank: 0, incarnation: 1 });
  for (const rank of [0, 1]) assert.equal(dispatcher.rankReturned(rank, 2), true);
  assert.equal(dispatcher.rankReturned(2, 1), false, "it lives");
  dispatcher.nodeEnded(1, killed, 200);
  assert.deepEqual(asked.slice(2), ["tell 0", "tell 2", "tell 3"]);
  dispatcher.rankDone(0, 0, 300);
  assert.equal(dispatcher.outcome, undefined, "an old life says nothing");
  for (const rank of [0, 1]) dispatcher.rankDone(rank, 2, 300);
  assert.deepEqual(asked.slice(5), ["decided finished 0", "end 0"]);
});

test("R8 a job that goes back to one process of each rank: the others are dead from the start, told and not reported, and so are their nodes", () => {
  const { dispatcher, asked, survived } = covered();
  dispatcher.goesOnWithout([2, 3], 50);
  assert.deepEqual(asked, ["tell 2", "tell 3"]);
  assert.deepEqual(survived, []);
  assert.equal(dispatcher.isNodeAlive(1), false);
  assert.deepEqual(
    [0, 1, 2, 3].map((process) => dispatcher.isRankAlive(process)),
    [true, true, false, false],
  );
  // The next loss is that of the last replica.
  dispatcher.rankEnded(0, 0, { kind: "vanished", code: 1 }, 100);
  const reason = dispatcher.outcome?.reason;
  assert.deepEqual(reason?.kind === "rank-failed" && reason.unplayed, [0]);
});

test("R8 a node that has one of the processes that go on stays", () => {
  const { dispatcher } = covered();
  dispatcher.goesOnWithout([1, 2], 50);
  assert.deepEqual([dispatcher.isNodeAlive(0), dispatcher.isNodeAlive(1)], [true, true]);
  for (const process of [0, 3]) dispatcher.rankDone(process, 0, 200);
  assert.equal(dispatcher.outcome?.reason.kind, "finished");
});
