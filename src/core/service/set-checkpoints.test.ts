import assert from "node:assert/strict";
import { test } from "node:test";
import type { Interval } from "../ft/definition.ts";
import { type CheckpointTimes, SetCheckpoints } from "./set-checkpoints.ts";

const patienceMs = 10_000;
const never = Number.POSITIVE_INFINITY;
const every = (everyMs: number): Interval => ({ kind: "fixed", everyMs });

interface WorldOptions {
  /** Ranks of each set. */
  readonly sets?: readonly (readonly number[])[];
  readonly interval?: Interval;
}

/** Says what is ordered, in one word each; what is not said to have happened has not. */
class World {
  readonly core: SetCheckpoints;
  readonly times: CheckpointTimes[] = [];
  readonly calls: number[] = [];
  readonly notes: string[] = [];
  nowMs = 0;
  mayCommit = true;
  readonly down = new Set<number>();
  readonly incarnations = new Map<number, number>();
  readonly #said: string[] = [];

  constructor({ sets = [[0, 1]], interval = { kind: "never" } }: WorldOptions = {}) {
    const setOf = [...sets.flat().keys()].map((rank) => sets.findIndex((members) => members.includes(rank)));
    const say = (word: string): void => void this.#said.push(word);
    const lives = {
      incarnationOf: (set: number) => this.incarnations.get(set) ?? 0,
      hasBegun: (set: number) => !this.down.has(set),
    };
    const options = { setOf, members: sets, checkpointInterval: interval, checkpointPatienceMs: patienceMs };
    this.core = new SetCheckpoints(options, lives, {
      record: () => undefined,
      stop: (set, number) => say(`stop ${set}.${number}`),
      goOn: (set) => say(`go-on ${set}`),
      verify: (set, number) => say(`verify ${set}.${number}`),
      mayCommit: (set, position) => {
        say(`may-commit ${set} ${position}`);
        return this.mayCommit;
      },
      drop: (set, number) => say(`drop ${set}.${number}`),
      oldest: (set, { number, position }) => say(`oldest ${set}.${number} at ${position}`),
      committed: (times, callsPassed) => {
        say(`committed ${times.set}.${times.number}`);
        this.times.push(times);
        this.calls.push(callsPassed);
      },
      happened: (event) => say(`(${event.kind})`),
      note: (message) => this.notes.push(message),
    });
  }

  /** What was ordered since this was asked last. */
  get said(): string[] {
    return this.#said.splice(0);
  }

  /** The same without what fault plans hear. */
  get orders(): string[] {
    return this.said.filter((word) => !word.startsWith("("));
  }

  /** Time passes as a host lets it. */
  until(nowMs: number): void {
    while (this.core.nextTimeMs <= nowMs) {
      this.nowMs = this.core.nextTimeMs;
      this.core.time(this.nowMs);
    }
    this.nowMs = nowMs;
  }

  capture(rank: number, number: number, settledMs = 1): void {
    this.core.captured(rank, { number, position: 0, callsPassed: 10, settledMs }, this.nowMs);
  }

  store(rank: number, number: number, { position = 0, problem = "" } = {}): void {
    this.core.imageStored(rank, { number, position, callsPassed: 10, settledMs: 1, problem }, this.nowMs);
  }

  verify(set: number, number: number, problem = ""): void {
    this.core.verified(set, number, problem, this.nowMs);
  }

  /** The set falls, and begins its next life. */
  fall(set: number): void {
    this.incarnations.set(set, (this.incarnations.get(set) ?? 0) + 1);
    this.down.add(set);
    this.core.fell([set], this.nowMs);
  }

  begin(set: number): void {
    this.down.delete(set);
    this.core.begun(set, this.nowMs);
  }

  /** A whole checkpoint of set 0. */
  take(number: number, position = 0): void {
    this.core.takeAll(this.nowMs);
    for (const rank of [0, 1]) this.store(rank, number, { position });
    this.verify(0, number);
  }
}

test("rule 4: a checkpoint counts when all are captured, stored and read back, in this order", () => {
  const world = new World();
  world.core.takeAll(world.nowMs);
  assert.deepEqual(world.said, ["stop 0.1", "(checkpoint-asked)"]);
  world.nowMs = 5;
  world.capture(0, 1, 4);
  assert.deepEqual(world.said, []);
  world.nowMs = 7;
  world.capture(1, 1, 2);
  assert.deepEqual(world.said, ["go-on 0"]);
  world.store(0, 1, { position: 3 });
  world.nowMs = 9;
  world.store(1, 1, { position: 4 });
  assert.deepEqual(world.said, ["(image-stored)", "(image-stored)", "verify 0.1"]);
  world.nowMs = 10;
  world.verify(0, 1);
  assert.deepEqual(world.said, ["may-commit 0 4", "oldest 0.0 at 0", "committed 0.1", "(checkpoint-committed)"]);
  assert.deepEqual(world.times, [
    { set: 0, number: 1, settledMs: 4, barrierMs: 1, capturedMs: 7, storedMs: 9, committedMs: 10 },
  ]);
  assert.deepEqual(world.calls, [20], "each member's calls count once");
  assert.deepEqual(world.core.newest(0), { number: 1, position: 4 });
});

test("rule 5: two checkpoints are kept; the one before is dropped, and everybody hears which is the oldest", () => {
  const world = new World();
  world.take(1, 10);
  world.take(2, 20);
  assert.equal(world.said.includes("oldest 0.1 at 10"), true);
  world.take(3, 30);
  const { said } = world;
  assert.equal(said.includes("drop 0.1"), true);
  assert.equal(said.includes("oldest 0.2 at 20"), true);
  assert.deepEqual(world.core.oldest(0), { number: 2, position: 20 });
});

test("rule 4: a fall at any step of a checkpoint voids it, and what comes of it later means nothing", () => {
  const steps: ((world: World) => void)[] = [
    (world) => world.core.takeAll(world.nowMs),
    (world) => world.capture(0, 1),
    (world) => world.capture(1, 1),
    (world) => world.store(0, 1),
    (world) => world.store(1, 1),
    (world) => {
      world.mayCommit = false;
      world.verify(0, 1);
    },
  ];
  for (let fallsAfter = 1; fallsAfter <= steps.length; fallsAfter++) {
    const world = new World();
    for (const step of steps.slice(0, fallsAfter)) step(world);
    world.said;
    world.fall(0);
    assert.deepEqual(world.orders, ["drop 0.1"], `after step ${fallsAfter}`);
    assert.equal(world.core.isOpen(0, 1), false);
    world.mayCommit = true;
    for (const step of steps.slice(fallsAfter)) step(world);
    world.core.mayCommit(0, world.nowMs);
    assert.deepEqual(world.orders, [], `nothing comes of it after step ${fallsAfter}`);
    assert.deepEqual(world.core.newest(0), { number: 0, position: 0 });
    world.begin(0);
    world.said;
    world.mayCommit = true;
    world.take(2);
    assert.equal(world.core.newest(0).number, 2, "the next life takes its own");
  }
});

test("L4: a fall of another set leaves a checkpoint alone", () => {
  const world = new World({ sets: [[0], [1]] });
  world.core.takeAll(world.nowMs);
  world.said;
  world.fall(1);
  assert.deepEqual(world.orders, ["drop 1.1"]);
  world.store(0, 1);
  world.verify(0, 1);
  assert.equal(world.core.newest(0).number, 1);
});

test("L4: a member that never comes to a call has the attempt given up, and the others go on", () => {
  const world = new World({ interval: every(100_000) });
  world.core.begin(0);
  world.until(100_000);
  assert.deepEqual(world.orders, ["stop 0.1"]);
  world.capture(0, 1);
  world.until(100_000 + patienceMs - 1);
  assert.deepEqual(world.orders, []);
  world.until(100_000 + patienceMs);
  assert.deepEqual(world.orders, ["go-on 0", "drop 0.1"]);
  assert.equal(world.notes.length, 1);
  assert.match(world.notes[0] ?? "", /^checkpoint 1 of set 0 was given up: a rank made no MPI call in time; /);
  assert.equal(world.core.nextTimeMs, 200_000 + patienceMs, "and there will be another");
});

test("L4: patience ends when all are captured: writing and reading back may take their time", () => {
  const world = new World();
  world.core.takeAll(0);
  world.capture(0, 1);
  world.capture(1, 1);
  assert.equal(world.core.nextTimeMs, never);
  world.until(10 * patienceMs);
  world.store(0, 1);
  world.store(1, 1);
  world.verify(0, 1);
  assert.equal(world.core.newest(0).number, 1);
});

test("L4: ranks that have all stopped are waited for while they write, but not for ever", () => {
  const world = new World();
  world.core.takeAll(0);
  world.core.stopped(0, 1, 0);
  assert.equal(world.core.nextTimeMs, patienceMs, "another has not stopped");
  // Of an attempt that is over.
  world.core.stopped(1, 0, 0);
  assert.equal(world.core.nextTimeMs, patienceMs);
  world.core.stopped(1, 1, 5);
  world.until(10 * patienceMs);
  assert.deepEqual(world.notes, []);
  world.until(40 * patienceMs);
  assert.match(world.notes[0] ?? "", /^checkpoint 1 of set 0 was given up: an image was not written in time; /);
});

test("L4: sets are spread over the interval, and each goes on by itself", () => {
  const world = new World({ sets: [[0], [1]], interval: every(1000) });
  world.core.begin(0);
  assert.equal(world.core.nextTimeMs, 500);
  world.until(500);
  assert.deepEqual(world.orders, ["stop 0.1"]);
  world.store(0, 1);
  world.verify(0, 1);
  world.until(1000);
  assert.equal(world.said.includes("stop 1.1"), true);
  world.until(1499);
  assert.deepEqual(world.orders, []);
  world.until(1500);
  assert.deepEqual(world.orders, ["stop 0.2"]);
});

test("L4: an image that cannot be written, or not be read back, ends the attempt; reported once, and when it is over", () => {
  const world = new World();
  world.core.takeAll(0);
  world.said;
  world.store(0, 1, { problem: "Cannot write /a/1: no space is left" });
  assert.deepEqual(world.orders, ["go-on 0", "drop 0.1"]);
  world.core.takeAll(0);
  for (const rank of [0, 1]) world.store(rank, 2);
  world.said;
  world.verify(0, 2, "Cannot write /a/2: no space is left");
  assert.deepEqual(world.orders, ["go-on 0", "drop 0.2"]);
  assert.equal(world.notes.length, 1);
  world.take(3);
  assert.deepEqual(world.notes.slice(1), ["checkpoints are taken again; 2 were given up"]);
});

test("rule 3: a commit waits for the protocol, and is asked for again when it says so", () => {
  const world = new World();
  world.mayCommit = false;
  world.take(1, 7);
  world.said;
  world.core.mayCommit(0, 1);
  assert.deepEqual(world.orders, ["may-commit 0 7"]);
  assert.equal(world.core.newest(0).number, 0);
  world.mayCommit = true;
  world.core.mayCommit(0, 2);
  assert.equal(world.core.newest(0).number, 1);
  world.said;
  world.core.mayCommit(0, 3);
  assert.deepEqual(world.orders, [], "there is nothing left to ask about");
});

test("rule 3: the protocol is not asked before the images have been read back", () => {
  const world = new World();
  world.core.takeAll(0);
  world.store(0, 1);
  world.store(1, 1);
  world.said;
  world.core.mayCommit(0, 1);
  assert.deepEqual(world.orders, []);
});

test("L4: programs take checkpoints: when all members want one; of an old life the wish means nothing", () => {
  const world = new World();
  world.core.wanted(0, 0, 0);
  assert.deepEqual(world.orders, []);
  world.fall(0);
  world.begin(0);
  world.core.wanted(1, 0, 1);
  world.core.wanted(1, 1, 1);
  assert.deepEqual(world.orders, []);
  world.core.wanted(0, 1, 1);
  assert.deepEqual(world.orders, ["stop 0.1"]);
});

test("L4: programs that want one after the other get them all: one that has been captured counts first", () => {
  const world = new World();
  for (const rank of [0, 1]) world.core.wanted(rank, 0, 0);
  for (const rank of [0, 1]) world.capture(rank, 1);
  world.said;
  for (const rank of [0, 1]) world.core.wanted(rank, 0, 0);
  assert.deepEqual(world.orders, []);
  for (const rank of [0, 1]) world.store(rank, 1);
  world.said;
  world.verify(0, 1);
  assert.deepEqual(world.orders, ["may-commit 0 0", "oldest 0.0 at 0", "committed 0.1", "stop 0.2"]);
});

test("L4: and the next one is taken too when the one before turns out to be no good", () => {
  const world = new World();
  for (const rank of [0, 1]) world.core.wanted(rank, 0, 0);
  for (const rank of [0, 1]) world.store(rank, 1);
  for (const rank of [0, 1]) world.core.wanted(rank, 0, 0);
  world.said;
  world.verify(0, 1, "Cannot read /a/1");
  assert.deepEqual(world.orders, ["go-on 0", "drop 0.1", "stop 0.2"]);
});

test("L6: full logs ask for checkpoints, of each set at most once a second, and of none that is busy or down", () => {
  const world = new World({ sets: [[0], [1], [2]] });
  world.core.takeForLogs([0], 0);
  assert.deepEqual(world.orders, ["stop 0.1"]);
  world.core.takeForLogs([0, 1], 1);
  assert.deepEqual(world.orders, ["stop 1.1"], "set 0 is busy");
  world.store(0, 1);
  world.verify(0, 1);
  world.said;
  world.core.takeForLogs([0], 999);
  assert.deepEqual(world.orders, [], "it has just been asked");
  world.core.takeForLogs([0], 1000);
  assert.deepEqual(world.orders, ["stop 0.2"]);
  world.fall(2);
  world.core.takeForLogs([2], 5000);
  assert.deepEqual(world.orders, [], "set 2 is down");
});

test("L4: one set is taken when it is wanted; one that is being taken counts", () => {
  const world = new World({ sets: [[0], [1]] });
  world.core.take(1, 0);
  assert.deepEqual(world.orders, ["stop 1.1"]);
  world.core.take(1, 1);
  assert.deepEqual(world.orders, [], "set 1 is busy");
  world.fall(0);
  world.core.take(0, 2);
  assert.deepEqual(world.orders, [], "set 0 is down");
  world.begin(0);
  assert.deepEqual(world.orders, ["stop 0.1"]);
});

test("L4: a set that is down is not asked; it is when its next life has begun, if it was due meanwhile", () => {
  const world = new World({ interval: every(1000) });
  world.core.begin(0);
  world.nowMs = 500;
  world.fall(0);
  world.until(1499);
  assert.deepEqual(world.orders, []);
  world.until(2000);
  assert.deepEqual(world.orders, [], "due at 1500, and it is still down");
  assert.equal(world.core.nextTimeMs, never);
  world.begin(0);
  assert.deepEqual(world.orders, ["stop 0.1"]);
});

test("L4: a user's wish for checkpoints of all is kept for a set that is down, and not for its next fall", () => {
  const world = new World({ sets: [[0], [1]] });
  world.fall(1);
  world.core.takeAll(0);
  assert.deepEqual(world.orders, ["stop 0.1"]);
  world.fall(1);
  world.begin(1);
  assert.deepEqual(world.orders, []);
  world.fall(1);
  world.core.takeAll(0);
  world.begin(1);
  assert.deepEqual(world.orders, ["stop 1.1"]);
});

test("rule 4: an image that cannot be read goes, and the one before is used; then there is none, and that is said", () => {
  const world = new World();
  for (const number of [1, 2, 3]) world.take(number);
  world.said;
  assert.equal(world.core.unreadable(0, 3), "");
  assert.deepEqual(world.orders, ["drop 0.3"]);
  assert.equal(world.core.newest(0).number, 2);
  assert.equal(world.core.unreadable(0, 3), "", "another rank of the set has found the same");
  assert.match(world.core.unreadable(0, 2), /^Cannot start ranks 0, 1 again: checkpoints 3 and 2 cannot be read, /);
});

test("rule 4: as long as the logs reach back to the beginning, that is what is left", () => {
  const world = new World();
  world.take(1);
  assert.equal(world.core.unreadable(0, 1), "");
  assert.deepEqual(world.core.newest(0), { number: 0, position: 0 });
});

test("L4: when the job is over nothing is taken and nothing counts", () => {
  const world = new World({ interval: every(1000) });
  world.core.begin(0);
  world.core.takeAll(0);
  for (const rank of [0, 1]) world.store(rank, 1);
  world.said;
  world.core.end();
  assert.equal(world.core.nextTimeMs, never);
  world.verify(0, 1);
  world.core.takeAll(0);
  for (const rank of [0, 1]) world.core.wanted(rank, 0, 0);
  world.core.takeForLogs([0], 0);
  assert.deepEqual(world.orders, []);
});

test("D5 a set that is held stands still from its checkpoint on, until it falls or is let go", () => {
  const world = new World();
  const { core } = world;
  core.takeAndHold(0, 0);
  for (const rank of [0, 1]) world.capture(rank, 1);
  assert.deepEqual(world.orders, ["stop 0.1"]);
  assert.equal(core.standsStill(0), false);
  for (const rank of [0, 1]) world.store(rank, 1);
  world.verify(0, 1);
  assert.deepEqual(world.orders, ["verify 0.1", "may-commit 0 0", "oldest 0.0 at 0", "committed 0.1"]);
  assert.equal(core.standsStill(0), true);
  core.letGo(0);
  assert.deepEqual(world.orders, ["go-on 0"]);
  assert.equal(core.standsStill(0), false);
  core.take(0, 0);
  for (const rank of [0, 1]) world.capture(rank, 2);
  assert.deepEqual(world.orders, ["stop 0.2", "go-on 0"]);
  core.takeAndHold(0, 0);
  for (const rank of [0, 1]) world.capture(rank, 3);
  assert.deepEqual(world.orders, ["drop 0.2", "stop 0.3"]);
  world.fall(0);
  world.begin(0);
  core.letGo(0);
  assert.deepEqual(world.orders, ["drop 0.3"]);
});

test("D5 a set that is to be held while its members stop for a checkpoint is held with that one", () => {
  const world = new World();
  const { core } = world;
  core.take(0, 0);
  world.capture(0, 1);
  core.takeAndHold(0, 0);
  world.capture(1, 1);
  assert.deepEqual(world.orders, ["stop 0.1"]);
});

test("D5 an attempt to hold a set that is given up lets its ranks go on, and is held when it is repeated", () => {
  const world = new World();
  const { core } = world;
  core.takeAndHold(0, 0);
  world.capture(0, 1);
  world.until(patienceMs);
  assert.deepEqual(world.orders, ["stop 0.1", "go-on 0", "drop 0.1"]);
  core.take(0, world.nowMs);
  for (const rank of [0, 1]) world.capture(rank, 2);
  assert.deepEqual(world.orders, ["stop 0.2"]);
});
