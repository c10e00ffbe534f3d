/**
 * Recovery in any order of events: sets fall at any moment, and everything that takes time (preparing, capturing, storing, reading
 * back, the protocol's consent) is answered late, in any order, perhaps after the next fall. Whatever the order,
 * a set begins its present life, with images that are there; every wait has an end.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../base/testing/properties.ts";
import type { NextLife } from "../ft/job-part.ts";
import { membersBySet } from "../ft/sets.ts";
import { Recovery } from "./recovery.ts";

/** Two sets share node 0, one is alone on node 1. */
const setOf = [0, 0, 1, 2, 2];
const lossesPossible = [[0, 1], [2], [3, 4], [0, 1, 2], [0, 1, 2, 3, 4]];
const members = membersBySet(setOf);
const patienceMs = 1000;

/** A member of a set in one of its lives. */
interface RankLife {
  readonly set: number;
  readonly rank: number;
  readonly life: number;
}

class World {
  readonly core: Recovery;
  nowMs = 0;
  /** What will happen some time, in any order. */
  pending: (() => void)[] = [];
  /** Falls of each set; the life that has been ordered to begin; whether its members stand still. */
  readonly #falls = members.map(() => 0);
  readonly #begun = members.map(() => 0);
  readonly #stopped = members.map(() => false);
  /** Numbers of each set whose images are there, all or some of them; of which all are, and have been read. */
  readonly #images = members.map(() => new Set<number>());
  readonly #good = members.map(() => new Set<number>());
  readonly #committed = members.map(() => [0]);
  readonly #consent = members.map(() => false);
  /** In which life a checkpoint was asked for. */
  readonly #lifeOf = new Map<string, number>();
  /** Ranks whose loss has not been made good. */
  readonly #behind = new Set<number>();

  constructor() {
    const options = { setOf, checkpointInterval: { kind: "fixed", everyMs: 100 } as const };
    const part = {
      prepare: (next: NextLife) =>
        this.#later(() => this.core.prepared(next.set, next.incarnation, { forRanks: next })),
      mayCommit: (set: number) => this.#mayCommit(set),
      committed() {},
    };
    this.core = new Recovery({ ...options, checkpointPatienceMs: patienceMs }, part, {
      record() {},
      restart: (ranks, restarts) => {
        assert.deepEqual(
          ranks,
          restarts.flatMap((restart) => restart.members).sort((a, b) => a - b),
        );
        for (const { set, incarnation, checkpoint, forRanks } of restarts) {
          assert.equal(incarnation, this.#falls[set], `set ${set} begins its present life`);
          assert.ok((this.#begun[set] ?? 0) < incarnation, `set ${set} begins life ${incarnation} once`);
          this.#begun[set] = incarnation;
          assert.equal((forRanks as NextLife).newest.number, checkpoint.number, "prepared for what it begins with");
          assert.equal(checkpoint.number, this.#committed[set]?.at(-1));
          this.#hasImages(set, checkpoint.number);
          for (const rank of members[set] ?? []) this.#later(() => this.#begin({ set, rank, life: incarnation }));
        }
      },
      hopeless: (_, problem) => assert.fail(problem),
      fell: () => assert.fail("every image can be read"),
      stop: (set, number) => {
        assert.equal(this.#begun[set], this.#falls[set], `set ${set} is asked when it is there`);
        assert.equal(this.#stopped[set], false, `set ${set} has gone on from the attempt before`);
        this.#stopped[set] = true;
        this.#images[set]?.add(number);
        const life = this.#falls[set] ?? 0;
        this.#lifeOf.set(`${set}.${number}`, life);
        for (const rank of members[set] ?? []) this.#later(() => this.#capture({ set, rank, life }, number));
      },
      goOn: (set) => {
        this.#stopped[set] = false;
      },
      verify: (set, number) => {
        this.#later(() => {
          if (this.#images[set]?.has(number) === true) this.#good[set]?.add(number);
          this.core.verified(set, number, "", this.nowMs);
        });
      },
      drop: (set, number) => void this.#images[set]?.delete(number),
      oldest: (set, { number }) => this.#hasImages(set, number),
      committed: ({ set, number }) => {
        assert.ok(this.#good[set]?.has(number), `checkpoint ${number} of set ${set} has been read back`);
        this.#hasImages(set, number);
        assert.equal(
          this.#lifeOf.get(`${set}.${number}`),
          this.#falls[set],
          `${number} is of set ${set}'s present life`,
        );
        this.#committed[set]?.push(number);
      },
      recovered: ({ ranks }) => {
        for (const rank of ranks) this.#behind.delete(rank);
      },
      happened() {},
      note() {},
    });
    this.core.allBegan(0);
  }

  #later(act: () => void): void {
    this.pending.push(act);
  }

  #hasImages(set: number, number: number): void {
    assert.ok(number === 0 || this.#images[set]?.has(number), `images ${number} of set ${set} are there`);
  }

  #isPresent({ set, life }: RankLife): boolean {
    return life === this.#falls[set];
  }

  #begin(it: RankLife): void {
    this.core.began(it.rank, it.life, this.nowMs);
    if (!this.#isPresent(it)) return;
    this.#later(() => this.core.caughtUp(it.rank, it.life, this.nowMs));
  }

  /** What was captured may be stored although its life is over by then. */
  #capture(it: RankLife, number: number): void {
    if (!this.#isPresent(it)) return;
    const facts = { number, position: number, callsPassed: 1, settledMs: 1 };
    this.core.captured(it.rank, facts, this.nowMs);
    this.#later(() => this.core.imageStored(it.rank, { ...facts, problem: "" }, this.nowMs));
  }

  #mayCommit(set: number): boolean {
    if (this.#consent[set] === true) {
      this.#consent[set] = false;
      return true;
    }
    this.#later(() => {
      this.#consent[set] = true;
      this.core.mayCommit(set, this.nowMs);
    });
    return false;
  }

  fall(ranks: readonly number[]): void {
    for (const set of new Set(ranks.map((rank) => setOf[rank]!))) {
      this.#falls[set]!++;
      this.#stopped[set] = false;
    }
    for (const rank of ranks) this.#behind.add(rank);
    this.core.fallen(ranks, this.nowMs);
  }

  /** The protocol changes its mind when nobody has asked, too. */
  consent(set: number): void {
    this.#consent[set] = true;
    this.core.mayCommit(set, this.nowMs);
  }

  pass(ms: number): void {
    this.nowMs += ms;
    if (this.core.nextTimeMs <= this.nowMs) this.core.time(this.nowMs);
  }

  answer(which: number): void {
    const [act] = this.pending.splice(which % Math.max(1, this.pending.length), 1);
    act?.();
  }

  /** Nothing falls any more, everything is answered, and nothing new is due. */
  drain(): void {
    while (this.pending.length > 0) this.answer(0);
    const before = this.#committed.map((numbers) => numbers.length);
    for (let round = 0; round < 4; round++) {
      this.pass(2 * patienceMs);
      while (this.pending.length > 0) this.answer(0);
    }
    for (const [set, falls] of this.#falls.entries()) {
      assert.equal(this.#begun[set], falls, `set ${set} has begun its last life`);
      assert.equal(this.#stopped[set], false, `set ${set} goes on`);
      assert.ok((this.#committed[set]?.length ?? 0) > (before[set] ?? 0), `set ${set} takes checkpoints again`);
      assert.ok(
        (this.#images[set]?.size ?? 0) <= 2,
        `two images of set ${set} are kept, not ${this.#images[set]?.size}`,
      );
    }
    assert.deepEqual([...this.#behind], [], "every loss is made good");
    assert.deepEqual(
      this.core.incarnations,
      setOf.map((set) => this.#falls[set]),
    );
  }
}

test("rules 4, 5, 7: whatever the order of falls and answers, sets begin their present lives with images that are there", () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant("answer" as const), which: fc.nat(20) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.nat(300) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant("fall" as const), ranks: fc.constantFrom(...lossesPossible) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("take" as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("consent" as const), set: fc.nat(2) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const world = new World();
      for (const it of steps) {
        if (it.kind === "answer") world.answer(it.which);
        else if (it.kind === "pass") world.pass(it.ms);
        else if (it.kind === "fall") world.fall(it.ranks);
        else if (it.kind === "consent") world.consent(it.set);
        else world.core.takeAll(world.nowMs);
      }
      world.drain();
    }),
    { numRuns: 500 },
  );
});
