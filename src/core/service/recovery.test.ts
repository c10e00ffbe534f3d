import assert from "node:assert/strict";
import { test } from "node:test";
import type { NextLife } from "../ft/job-part.ts";
import { Recovery } from "./recovery.ts";

/** Two sets of two ranks, unless another table is given. What is prepared, stored or begun, a test says. */
class World {
  readonly core: Recovery;
  /** Lives that the protocol was asked to prepare. */
  readonly asked: NextLife[] = [];
  readonly notes: string[] = [];
  readonly recovered: (readonly number[])[] = [];
  nowMs = 0;
  mayCommit = true;
  readonly #said: string[] = [];

  constructor(setOf: readonly number[] = [0, 0, 1, 1]) {
    const say = (word: string): void => void this.#said.push(word);
    const options = { setOf, checkpointInterval: { kind: "never" } as const, checkpointPatienceMs: 1000 };
    const part = {
      prepare: (next: NextLife) => void this.asked.push(next),
      mayCommit: () => this.mayCommit,
      committed: (set: number, { number }: { number: number }) => say(`trim ${set}.${number}`),
    };
    this.core = new Recovery(options, part, {
      record: () => undefined,
      restart: (ranks, restarts) => {
        const lives = restarts.map(
          (it) => `${it.set}/${it.incarnation} from ${it.checkpoint.number} with ${it.forRanks}`,
        );
        say(`restart ${ranks.join()}: ${lives.join("; ")}`);
      },
      hopeless: (ranks, problem) => say(`hopeless ${ranks.join()}: ${problem}`),
      fell: (rank) => say(`fell ${rank}`),
      stop: (set, number) => say(`stop ${set}.${number}`),
      goOn: (set) => say(`go-on ${set}`),
      verify: (set, number) => say(`verify ${set}.${number}`),
      drop: (set, number) => say(`drop ${set}.${number}`),
      oldest: (set, { number }) => say(`oldest ${set}.${number}`),
      committed: ({ set, number }, callsPassed) => say(`committed ${set}.${number} at ${callsPassed}`),
      recovered: ({ ranks }) => this.recovered.push(ranks),
      happened: (event) => say(`(${event.kind}${"set" in event ? ` ${event.set}` : ""})`),
      note: (message) => this.notes.push(message),
    });
  }

  get said(): string[] {
    return this.#said.splice(0);
  }

  fall(...ranks: number[]): void {
    this.core.fallen(ranks, this.nowMs);
  }

  prepare(set: number, incarnation: number, forRanks = "words"): void {
    this.core.prepared(set, incarnation, { forRanks });
  }

  /** A whole checkpoint of each set. */
  takeAll(number: number): void {
    this.core.takeAll(this.nowMs);
    const image = { number, position: 10 * number, callsPassed: 1, settledMs: 0, problem: "" };
    for (const rank of [0, 1, 2, 3]) this.core.imageStored(rank, image, this.nowMs);
    for (const set of [0, 1]) this.core.verified(set, number, "", this.nowMs);
    this.said;
  }
}

test("L5: one member falls, and the whole set begins its next life when the protocol has what it needs", () => {
  const world = new World();
  world.fall(1);
  assert.deepEqual(world.said, []);
  const start = { number: 0, position: 0 };
  assert.deepEqual(world.asked, [{ set: 0, incarnation: 1, newest: start, oldest: start }]);
  assert.deepEqual(world.core.incarnations, [1, 1, 0, 0]);
  world.prepare(0, 1);
  assert.deepEqual(world.said, ["restart 0,1: 0/1 from 0 with words"]);
  assert.equal(world.core.report.ranksRestarted, 2);
});

test("L5: the next life begins with the newest checkpoint that counts, and hears of the oldest", () => {
  const world = new World();
  for (const number of [1, 2, 3]) world.takeAll(number);
  world.fall(2, 3);
  assert.deepEqual(world.asked, [
    { set: 1, incarnation: 1, newest: { number: 3, position: 30 }, oldest: { number: 2, position: 20 } },
  ]);
  world.prepare(1, 1);
  assert.deepEqual(world.said, ["restart 2,3: 1/1 from 3 with words"]);
});

test("L5: several sets are lost together: they begin together, when the last is prepared", () => {
  const world = new World();
  world.fall(0, 1, 2, 3);
  world.prepare(1, 1, "b");
  assert.deepEqual(world.said, []);
  world.prepare(0, 1, "a");
  assert.deepEqual(world.said, ["restart 0,1,2,3: 0/1 from 0 with a; 1/1 from 0 with b"]);
});

test("L5: two losses, each of one set, begin each by itself", () => {
  const world = new World();
  world.fall(0, 1);
  world.fall(2, 3);
  world.prepare(1, 1);
  assert.deepEqual(world.said, ["restart 2,3: 1/1 from 0 with words"]);
  world.prepare(0, 1);
  assert.deepEqual(world.said, ["restart 0,1: 0/1 from 0 with words"]);
});

test("rule 7: what was prepared for a life that has fallen meanwhile means nothing", () => {
  const world = new World();
  world.fall(0);
  world.fall(1);
  assert.deepEqual(world.core.incarnations, [2, 2, 0, 0]);
  world.prepare(0, 1, "old");
  assert.deepEqual(world.said, []);
  world.prepare(0, 2, "new");
  assert.deepEqual(world.said, ["restart 0,1: 0/2 from 0 with new"]);
  world.prepare(0, 2, "again");
  assert.deepEqual(world.said, [], "a life begins once");
});

test("rule 7: a set falls alone and then with its node: one beginning, with the present lives of both", () => {
  const world = new World();
  world.fall(0, 1);
  world.fall(0, 1, 2, 3);
  world.prepare(0, 1, "old");
  world.prepare(1, 1, "b");
  assert.deepEqual(world.said, []);
  world.prepare(0, 2, "a");
  assert.deepEqual(world.said, ["restart 0,1,2,3: 0/2 from 0 with a; 1/1 from 0 with b"]);
});

test("rule 7: a node is lost, and one of its sets falls again before it has begun: the node waits for that", () => {
  const world = new World();
  world.fall(0, 1, 2, 3);
  world.prepare(0, 1, "a");
  world.fall(2, 3);
  world.prepare(1, 1, "old");
  assert.deepEqual(world.said, []);
  world.prepare(1, 2, "b");
  assert.deepEqual(world.said, ["restart 0,1,2,3: 0/1 from 0 with a; 1/2 from 0 with b"]);
});

test("rule 7: what a set needs is lost: the job is told once, and no rank of that loss begins", () => {
  const world = new World();
  world.fall(0, 1, 2, 3);
  world.core.prepared(0, 1, { problem: "Cannot start ranks 0, 1 again" });
  assert.deepEqual(world.said, ["hopeless 0,1,2,3: Cannot start ranks 0, 1 again"]);
  world.prepare(1, 1);
  assert.deepEqual(world.said, []);
});

test("L5: a protocol that answers at once is heard when all sets of the loss are known", () => {
  const said: string[] = [];
  const core: Recovery = new Recovery(
    { setOf: [0, 1], checkpointInterval: { kind: "never" }, checkpointPatienceMs: 1000 },
    {
      prepare: ({ set, incarnation }) => core.prepared(set, incarnation, { forRanks: null }),
      mayCommit: () => true,
      committed() {},
    },
    {
      ...new Proxy({} as ConstructorParameters<typeof Recovery>[2], { get: () => () => {} }),
      restart: (ranks) => said.push(`restart ${ranks.join()}`),
      drop() {},
    },
  );
  core.fallen([0, 1], 0);
  assert.deepEqual(said, ["restart 0,1"]);
});

test("rule 4: a fall in the middle of a checkpoint drops its images; the life after it takes its own", () => {
  const world = new World();
  world.core.takeAll(0);
  world.said;
  world.fall(0);
  assert.deepEqual(world.said, ["drop 0.1"]);
  world.prepare(0, 1);
  world.said;
  for (const rank of [0, 1]) world.core.began(rank, 0, 1);
  assert.deepEqual(world.said, [], "words of the life before mean nothing (rule 7)");
  for (const rank of [0, 1]) world.core.began(rank, 1, 1);
  assert.deepEqual(world.said, ["(recovery 0)"], "once, when the last of them has begun");
  world.core.takeAll(2);
  assert.deepEqual(world.said, ["stop 0.2", "(checkpoint-asked 0)"], "set 1 is being captured already");
});

test("rule 5: when a checkpoint counts the protocol trims its logs, and nodes theirs", () => {
  const world = new World();
  world.core.takeAll(0);
  const image = { number: 1, position: 5, callsPassed: 3, settledMs: 0, problem: "" };
  for (const rank of [0, 1]) world.core.imageStored(rank, image, 0);
  world.said;
  world.core.verified(0, 1, "", 0);
  assert.deepEqual(world.said, ["trim 0.0", "oldest 0.0", "committed 0.1 at 6", "(checkpoint-committed 0)"]);
  assert.equal(world.core.report.checkpoints, 1);
});

test("rule 3: a commit that waits for the protocol counts when it is asked for again, unless its set has fallen", () => {
  const world = new World();
  world.mayCommit = false;
  world.takeAll(1);
  world.mayCommit = true;
  world.fall(0);
  world.core.mayCommit(0, 1);
  world.core.mayCommit(1, 1);
  assert.deepEqual(world.said, [
    "drop 0.1",
    "trim 1.0",
    "oldest 1.0",
    "committed 1.1 at 2",
    "(checkpoint-committed 1)",
  ]);
});

test("rule 4: an unreadable image ends the life that was to begin with it; the next begins with the one before", () => {
  const world = new World();
  for (const number of [1, 2]) world.takeAll(number);
  world.fall(0);
  world.prepare(0, 1);
  world.said;
  world.core.imageUnreadable(0, 2, "Cannot read 0.image: it is too short");
  world.core.imageUnreadable(1, 2, "Cannot read 1.image: it is too short");
  assert.deepEqual(world.said, ["drop 0.2", "fell 0", "fell 1"]);
  assert.equal(world.notes[0], "rank 0 cannot go on from checkpoint 2: Cannot read 0.image: it is too short");
  world.fall(0, 1);
  assert.equal(world.asked.at(-1)?.newest.number, 1);
  world.prepare(0, 2);
  assert.deepEqual(world.said, ["restart 0,1: 0/2 from 1 with words"]);
  world.core.imageUnreadable(1, 1, "Cannot read 1.image: it is too short");
  const said = world.said.join();
  assert.match(said, /^hopeless 0,1: Cannot start ranks 0, 1 again: checkpoints 2 and 1 cannot be read, /);
});

test("L5: who has caught up in an old life has not in the present one", () => {
  const world = new World();
  world.fall(0);
  world.core.caughtUp(0, 0, 5);
  world.core.caughtUp(1, 1, 5);
  assert.deepEqual(world.recovered, []);
  world.core.caughtUp(0, 1, 6);
  assert.deepEqual(world.recovered, [[0, 1]]);
});

test("L6: full logs of a rank: fault plans hear of its set, and the sets that it names are asked", () => {
  const world = new World();
  world.core.wantCheckpoints(0, [1], 0);
  assert.deepEqual(world.said, ["(log-full 0)", "stop 1.1", "(checkpoint-asked 1)"]);
});

test("L5: when the job is over nothing begins any more", () => {
  const world = new World();
  world.fall(0);
  world.core.end();
  world.prepare(0, 1);
  assert.deepEqual(world.said, []);
  assert.equal(world.core.nextTimeMs, Number.POSITIVE_INFINITY);
});

test("D5 a rank becomes a set of its own: both begin with the checkpoint since which they stand still, and fall alone from then on", () => {
  const setOf = [0, 0, 1, 1];
  const world = new World(setOf);
  for (const number of [1, 2]) world.takeAll(number);
  const checkpoint = world.core.newest(0);
  setOf[1] = 2;
  world.core.split({ set: 0, as: 2, rank: 1, checkpoint, sent: [] });
  assert.deepEqual(world.core.membersOf(0), [0]);
  assert.deepEqual(world.core.membersOf(2), [1]);
  assert.equal(world.core.sets, 3);
  world.fall(1);
  world.fall(0);
  const both = { newest: checkpoint, oldest: checkpoint };
  assert.deepEqual(world.asked, [
    { set: 2, incarnation: 1, ...both },
    { set: 0, incarnation: 1, ...both },
  ]);
  world.prepare(2, 1);
  world.prepare(0, 1);
  assert.deepEqual(world.said, ["restart 1: 2/1 from 2 with words", "restart 0: 0/1 from 2 with words"]);
  for (const rank of [0, 1]) world.core.began(rank, 1, 0);
  for (const rank of [0, 1]) world.core.caughtUp(rank, 1, 0);
  assert.ok(world.core.isQuiet);
  world.said;
  world.core.take(2, 0);
  const image = { number: 3, position: 30, callsPassed: 1, settledMs: 0, problem: "" };
  world.core.imageStored(1, image, 0);
  world.core.verified(2, 3, "", 0);
  assert.deepEqual(
    world.said.filter((word) => !word.startsWith("(")),
    ["stop 2.3", "go-on 2", "verify 2.3", "trim 2.2", "oldest 2.2", "committed 2.3 at 1"],
  );
  world.fall(1);
  assert.deepEqual(world.asked.at(-1), {
    set: 2,
    incarnation: 2,
    newest: { number: 3, position: 30 },
    oldest: checkpoint,
  });
  assert.deepEqual(world.core.incarnations, [1, 2, 0, 0]);
});
