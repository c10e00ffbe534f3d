import assert from "node:assert/strict";
import { test } from "node:test";
import type { Prepared } from "../job-part.ts";
import { LoggingJob } from "./logging-job.ts";

/** For the protocols of ranks whose sets are as they were. */
const begins = (log: Int32Array) => ({ log, setOf: [0, 0, 1, 1], parted: [] });

/** Two sets of two ranks. What the event log is asked stands in `said`; a test answers. */
class World {
  readonly job: LoggingJob;
  readonly prepared: { readonly set: number; readonly incarnation: number; readonly outcome: Prepared }[] = [];
  readonly notes: string[] = [];
  /** A checkpoint of set 0 at that position waits; null: none. */
  waitsAt: number | null = null;
  committed = 0;
  readonly #said: string[] = [];

  constructor({ programsTakeCheckpoints = false } = {}) {
    const say = (word: string): void => void this.#said.push(word);
    this.job = new LoggingJob(
      { setOf: [0, 0, 1, 1], programsTakeCheckpoints },
      {
        fence: (set, incarnation, from) => say(`fence ${set}/${incarnation} from ${from}`),
        askEnd: (set) => say(`end of ${set}?`),
        trim: (set, below) => say(`trim ${set} below ${below}`),
      },
      {
        prepared: (set, incarnation, outcome) => void this.prepared.push({ set, incarnation, outcome }),
        mayCommit: (set) => this.commit(set),
        wantCheckpoints: (rank, sets) => say(`rank ${rank} wants checkpoints of ${sets.join()}`),
        note: (message) => void this.notes.push(message),
      },
    );
  }

  get said(): string[] {
    return this.#said.splice(0);
  }

  /** As the core of set checkpoints does. */
  commit(set: number): void {
    if (this.waitsAt === null || !this.job.mayCommit(set, this.waitsAt)) return;
    this.waitsAt = null;
    this.committed++;
  }

  fall(set: number, incarnation: number, { newest = 0, oldest = 0 } = {}): void {
    this.waitsAt = null;
    const [first, last] = [
      { number: 1, position: oldest },
      { number: 2, position: newest },
    ];
    this.job.prepare({ set, incarnation, newest: last, oldest: first });
  }
}

test("rule 7: a set that has fallen is fenced off; its members replay from their checkpoint, its nodes keep more", () => {
  const world = new World();
  world.fall(0, 1, { newest: 12, oldest: 10 });
  assert.deepEqual(world.said, ["fence 0/1 from 10"]);
  const words = Int32Array.of(1, 2, 3, 4);
  world.job.fenced(0, 1, words);
  const [{ outcome }] = world.prepared as [(typeof world.prepared)[0]];
  assert.deepEqual(outcome, { forRanks: begins(Int32Array.of(3, 4)) });
  assert.deepEqual(world.job.forNode(0, [0, 1]), { streams: [{ set: 0, from: 10, words }] });
});

test("rule 7: positions wrap as 32-bit integers", () => {
  const world = new World();
  world.fall(0, 1, { newest: (0x7fffffff + 2) | 0, oldest: 0x7fffffff });
  world.job.fenced(0, 1, Int32Array.of(1, 2, 3));
  assert.deepEqual(world.prepared[0]?.outcome, { forRanks: begins(Int32Array.of(3)) });
  world.waitsAt = 0x7fffffff;
  world.commit(0);
  world.job.endIs(0, -0x80000000, 0);
  assert.equal(world.committed, 1);
});

test("D5: lives that begin with the checkpoint at which a rank left their set hear what had been sent between them; later ones do not", () => {
  const world = new World();
  const sent = [{ from: 1, to: 0, next: 7, unsent: [5], waiting: [] }];
  world.job.split({ set: 0, as: 2, rank: 1, checkpoint: { number: 2, position: 10 }, sent });
  world.fall(0, 1, { newest: 10, oldest: 10 });
  world.job.fenced(0, 1, new Int32Array(0));
  assert.deepEqual(world.prepared[0]?.outcome, { forRanks: { ...begins(new Int32Array(0)), parted: sent } });
  world.job.prepare({
    set: 0,
    incarnation: 2,
    newest: { number: 3, position: 12 },
    oldest: { number: 0, position: 10 },
  });
  world.job.fenced(0, 2, new Int32Array(2));
  assert.deepEqual(world.prepared[1]?.outcome, { forRanks: begins(new Int32Array(0)) });
  world.said;
  world.job.rankSaid(3, { kind: "log-full", sets: [0] });
  assert.deepEqual(world.said, ["rank 3 wants checkpoints of 0,2"]);
});

test("L5: a set that is on two nodes: both get the stream, and then it is forgotten", () => {
  const world = new World();
  world.fall(0, 1);
  world.job.fenced(0, 1, new Int32Array(1));
  assert.deepEqual(world.job.forNode(0, [0]), world.job.forNode(1, [1]));
  assert.throws(() => world.job.forNode(0, [0]), /was not prepared/);
  assert.deepEqual(world.job.forNode(0, []), { streams: [] }, "nobody begins again there");
});

test("rule 7: the set falls again before the event log has answered: only the present life is prepared", () => {
  const world = new World();
  world.fall(0, 1);
  world.fall(0, 2);
  world.job.fenced(0, 1, Int32Array.of(1));
  assert.deepEqual(world.prepared, []);
  world.job.fenced(0, 2, Int32Array.of(2));
  assert.deepEqual(world.prepared, [{ set: 0, incarnation: 2, outcome: { forRanks: begins(Int32Array.of(2)) } }]);
});

test("rule 7: the event log has lost what the set had chosen: that is said, and names the ranks", () => {
  const world = new World();
  world.fall(1, 1);
  world.job.fenced(1, 1, null);
  const problem = "Cannot start ranks 2, 3 again: the event logger was lost with what they had chosen";
  assert.deepEqual(world.prepared, [{ set: 1, incarnation: 1, outcome: { problem } }]);
});

test("rule 3: a checkpoint counts when the event log has all that was decided before; until then it is asked again", () => {
  const world = new World();
  world.waitsAt = 20;
  world.commit(0);
  assert.deepEqual(world.said, ["end of 0?"]);
  assert.equal(world.job.nextTimeMs, Number.POSITIVE_INFINITY, "the answer comes first");
  world.job.endIs(0, 19, 100);
  assert.equal(world.committed, 0);
  assert.equal(world.job.nextTimeMs, 105);
  world.job.tick(104);
  assert.deepEqual(world.said, []);
  world.job.tick(105);
  assert.deepEqual(world.said, ["end of 0?"]);
  world.job.endIs(0, null, 110);
  assert.equal(world.job.nextTimeMs, 115, "another event log may have to be told everything first");
  world.job.tick(120);
  world.job.endIs(0, 20, 121);
  assert.equal(world.committed, 1);
  assert.equal(world.job.nextTimeMs, Number.POSITIVE_INFINITY);
});

test("rule 3: a set that falls while its checkpoint waits is asked about no more, and an old answer means nothing", () => {
  const world = new World();
  world.waitsAt = 20;
  world.commit(0);
  world.fall(0, 1);
  world.said;
  world.job.endIs(0, 30, 0);
  assert.equal(world.committed, 0);
  world.job.tick(1000);
  assert.deepEqual(world.said, []);
  world.job.fenced(0, 1, new Int32Array(20));
  world.waitsAt = 25;
  world.commit(0);
  assert.deepEqual(world.said, ["end of 0?"], "the next life's checkpoint asks for itself");
  assert.equal(world.committed, 0);
});

test("rule 3: what was reached for one checkpoint is not taken for granted for the next", () => {
  const world = new World();
  world.waitsAt = 20;
  world.commit(0);
  world.job.endIs(0, 20, 0);
  world.said;
  world.waitsAt = 20;
  world.commit(0);
  assert.deepEqual(world.said, ["end of 0?"]);
  assert.equal(world.committed, 1);
});

test("L6: the event log is trimmed to the oldest checkpoint that may be restored", () => {
  const world = new World();
  world.job.committed(1, { number: 3, position: 77 });
  assert.deepEqual(world.said, ["trim 1 below 77"]);
});

test("L6: a full payload log wants checkpoints of the sets it is kept for", () => {
  const world = new World();
  world.job.rankSaid(2, { kind: "log-full", sets: [0] });
  assert.deepEqual(world.said, ["rank 2 wants checkpoints of 0"]);
  world.job.rankSaid(2, { kind: "something else" });
  world.job.rankSaid(2, null);
  assert.deepEqual(world.said, []);
});

test("L6: where programs take checkpoints themselves the user is told, once, and not of sets that have some", () => {
  const world = new World({ programsTakeCheckpoints: true });
  world.job.committed(0, { number: 0, position: 0 });
  world.job.rankSaid(2, { kind: "log-full", sets: [0] });
  assert.deepEqual(world.notes, []);
  for (let again = 0; again < 2; again++) world.job.rankSaid(0, { kind: "log-full", sets: [0, 1] });
  assert.equal(world.notes.length, 1);
  assert.match(
    world.notes[0] ?? "",
    /^the payload logs of what is sent to ranks 2, 3 grow, .* mpi\.checkpoint\(state\) does$/,
  );
});
