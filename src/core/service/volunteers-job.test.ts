/**
 * Dispatcher, recovery, restart placement and volunteers together, in any order of events: nodes join, go, vanish and fall silent, and
 * whatever takes time is answered late. Every life of a rank begins once and in one process; nobody waits for ever; the job ends.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../base/testing/properties.ts";
import type { NextLife } from "../ft/job-part.ts";
import { Dispatcher } from "./dispatcher.ts";
import { placementOf, ranksOfNode } from "./placement.ts";
import { Recovery, type SetRestart } from "./recovery.ts";
import { RestartPlacement } from "./restart-placement.ts";
import { Volunteers } from "./volunteers.ts";

/** Three nodes, and one set that has a member on each of the first two. */
const placement = placementOf([0, 0, 1, 2]);
const setOf = [0, 1, 1, 2];
const nodes = 3;

/** A process that is, or may become, a node. */
interface Peer {
  readonly number: number;
  /** It lives and says nothing. */
  isSilent: boolean;
  isGone: boolean;
}

class World {
  readonly dispatcher: Dispatcher;
  readonly #recovery: Recovery;
  readonly #restarts: RestartPlacement;
  readonly #volunteers: Volunteers;
  readonly #peers: Peer[] = [];
  /** By place: the present process; null: none. */
  readonly #at: (Peer | null)[] = new Array<Peer | null>(nodes).fill(null);
  /** What will happen some time, in any order. */
  pending: (() => void)[] = [];
  /** Lives that have begun, as "rank.incarnation". */
  readonly #lives = new Set<string>();
  /** By rank: the life that its place was given last. */
  readonly #life = placement.map(() => -1);
  #nowMs = 0;
  #ownStarts = 0;
  hasEnded = false;

  constructor(startsOwn: boolean) {
    this.#volunteers = new Volunteers({ nodes, startsOwn }, { take: (node, volunteer) => this.#take(node, volunteer) });
    this.dispatcher = this.#newDispatcher();
    const part = {
      prepare: ({ set, incarnation }: NextLife) =>
        this.#later(() => this.#recovery.prepared(set, incarnation, { forRanks: undefined })),
      mayCommit: () => false,
      committed() {},
    };
    const options = { setOf, checkpointInterval: { kind: "never" } as const, checkpointPatienceMs: 1000 };
    const none = (): void => {};
    this.#recovery = new Recovery(options, part, {
      record: none,
      restart: (_, restarts) => this.#restarts.restart(restarts),
      hopeless: (_, problem) => assert.fail(problem),
      fell: none,
      stop: none,
      goOn: none,
      verify: none,
      drop: none,
      oldest: none,
      committed: none,
      recovered: none,
      happened: none,
      note: none,
    });
    this.#restarts = new RestartPlacement(placement, {
      successorOf: (node) => this.#volunteers.successorOf(node),
      replace: (node, restarts, successor) => this.#begin(node, this.#peerOf(successor), livesOf(restarts)),
      restartRanks: (node, restarts) => this.#beginRanks(node, livesOf(restarts)),
      notReplaced: (node) => this.dispatcher.nodeEnded(node, { kind: "exit", code: 0 }, this.#nowMs),
      isEnding: () => this.dispatcher.outcome !== undefined,
    });
    this.#volunteers.begin();
  }

  #newDispatcher(): Dispatcher {
    const patience = { patienceMs: 300, starvedPatienceMs: 300, startPatienceMs: 500, starvedStartPatienceMs: 500 };
    return new Dispatcher(
      {
        placement,
        ranks: placement.length,
        nodes,
        heartbeatMs: 100,
        ...patience,
        endPatienceMs: 400,
        timeoutMs: Number.POSITIVE_INFINITY,
        deaths: "replaced",
        setOf,
      },
      {
        record() {},
        tell() {},
        left() {},
        restart: (node, ranks) => {
          this.#at[node] = null;
          this.#restarts.gone(node);
          this.#recovery.fallen(ranks, this.#nowMs);
        },
        restartRanks: (_, ranks) => this.#recovery.fallen(ranks, this.#nowMs),
        endRanks: () => assert.fail("all dead ranks return"),
        decided: () => {
          for (const node of this.#volunteers.end())
            this.dispatcher.nodeEnded(node, { kind: "exit", code: 0 }, this.#nowMs);
        },
        survived() {},
        work: () => 0,
        isVacant: (node) => this.#volunteers.isVacant(node),
        end: (node) => this.#later(() => this.#goes(this.#at[node] ?? null)),
        kill: (node) => this.#later(() => this.#goes(this.#at[node] ?? null, true)),
        disown: () => assert.fail("suspects are killed"),
        ended: () => {
          this.hasEnded = true;
        },
      },
      0,
    );
  }

  #later(act: () => void): void {
    this.pending.push(act);
  }

  // Places

  #peerOf(volunteer: number): Peer {
    if (volunteer > 0) return this.#peers.find(({ number }) => number === volunteer)!;
    this.#ownStarts++;
    return { number: 0, isSilent: false, isGone: false };
  }

  #take(node: number, volunteer: number): void {
    if (this.#life.every((life) => life >= 0)) this.#restarts.taken(node, volunteer);
    else {
      const first = ranksOfNode(placement, node).map((rank) => ({ rank, incarnation: 0 }));
      this.#begin(node, this.#peerOf(volunteer), first);
    }
  }

  #begin(node: number, peer: Peer, lives: readonly Life[]): void {
    assert.equal(this.#at[node], null, "a place has one process");
    assert(!this.#at.includes(peer), "a process has one place");
    assert.deepEqual(lives.map(({ rank }) => rank).sort(), ranksOfNode(placement, node), "with all ranks of the place");
    this.#at[node] = peer;
    this.#beginRanks(node, lives);
    // It has gone while nobody had heard of it.
    if (peer.isGone) this.#later(() => this.#lost(node, peer));
  }

  #beginRanks(node: number, lives: readonly Life[]): void {
    assert.notEqual(this.#at[node], null, `ranks begin in place ${node}, which somebody has`);
    for (const { rank, incarnation } of lives) {
      const life = `${rank}.${incarnation}`;
      assert(!this.#lives.has(life), `life ${life} begins once`);
      assert(incarnation > this.#life[rank]!, "lives begin in their order");
      this.#lives.add(life);
      this.#life[rank] = incarnation;
      this.#later(() => this.#recovery.began(rank, incarnation, this.#nowMs));
      // Progress: falls are nobody's fault here.
      this.dispatcher.falls.passed(rank, this.#lives.size);
    }
  }

  // Events

  join(): void {
    const number = this.#volunteers.called(0);
    if (number === null) return;
    this.#peers.push({ number, isSilent: false, isGone: false });
    this.#volunteers.joined(number);
  }

  /** A volunteer, or a process of the job, goes. */
  go(which: number): void {
    const all = [...this.#peers, ...this.#at.filter((peer): peer is Peer => peer?.number === 0)];
    const living = all.filter(({ isGone }) => !isGone);
    if (living.length > 0) this.#goes(living[which % living.length]!);
  }

  silence(node: number): void {
    const peer = this.#at[node % nodes];
    if (peer) peer.isSilent = true;
  }

  #goes(peer: Peer | null, isForced = false): void {
    if (peer === null || peer.isGone || (peer.isSilent && !isForced && this.dispatcher.outcome === undefined)) return;
    peer.isGone = true;
    this.#volunteers.gone(peer.number);
    const node = this.#at.indexOf(peer);
    if (node >= 0) this.#later(() => this.#lost(node, peer));
  }

  #lost(node: number, peer: Peer): void {
    if (this.#at[node] !== peer) return;
    this.dispatcher.nodeEnded(node, { kind: "cut", why: "closed" }, this.#nowMs);
  }

  tick(): void {
    this.#nowMs += 100;
    for (const [node, peer] of this.#at.entries()) {
      if (peer !== null && !peer.isSilent && !peer.isGone) this.dispatcher.heard(node);
    }
    this.dispatcher.tick(this.#nowMs);
  }

  happen(which: number): void {
    const [act] = this.pending.splice(which % Math.max(1, this.pending.length), 1);
    act?.();
  }

  /** All that is pending happens, and time passes until nobody is silent. */
  settle(): void {
    for (let i = 0; i < 60; i++) {
      while (this.pending.length > 0) this.happen(0);
      this.tick();
    }
  }

  checkRunning(): void {
    for (const node of this.#at.keys()) assert(this.#at[node]?.isGone === false, `somebody lives in place ${node}`);
    assert.deepEqual(this.#life, [...this.#recovery.incarnations], "every rank has begun its present life");
  }

  checkEnd(): void {
    this.dispatcher.interrupted("SIGINT", 2, this.#nowMs);
    this.settle();
    assert(this.hasEnded, "the job ends, whatever its places wait for");
  }

  get ownStarts(): number {
    return this.#ownStarts;
  }
}

interface Life {
  readonly rank: number;
  readonly incarnation: number;
}

const livesOf = (restarts: readonly SetRestart[]): Life[] =>
  restarts.flatMap(({ members, incarnation }) => members.map((rank) => ({ rank, incarnation })));

const events = fc.array(
  fc.record({ what: fc.constantFrom("join", "go", "silence", "tick", "happen", "happen"), which: fc.nat(20) }),
  { maxLength: 60 },
);

for (const startsOwn of [false, true]) {
  const what = startsOwn ? "with processes of its own" : "of volunteers alone";
  test(`V9: a job ${what}, in any order of events`, () => {
    fc.assert(
      fc.property(events, fc.boolean(), (history, endsEarly) => {
        const world = new World(startsOwn);
        for (const { what: event, which } of history) {
          if (event === "join") world.join();
          else if (event === "go") world.go(which);
          else if (event === "silence") world.silence(which);
          else if (event === "tick") world.tick();
          else world.happen(which);
        }
        if (!endsEarly) {
          world.settle();
          for (let i = 0; i < nodes; i++) world.join();
          world.settle();
          world.checkRunning();
          assert.equal(world.ownStarts > 0, startsOwn);
        }
        world.checkEnd();
      }),
      { numRuns: 300 },
    );
  });
}

test("V9: a set of two places that are both vacant begins its last life, in whichever of them somebody comes first", () => {
  for (const first of [0, 1]) {
    const world = new World(false);
    for (let i = 0; i < nodes; i++) world.join();
    world.settle();
    for (let i = 0; i < 2; i++) {
      // Those who have gone are not counted.
      world.go(i === 0 ? first : 0);
      world.settle();
    }
    world.join();
    world.settle();
    world.join();
    world.settle();
    world.checkRunning();
    world.checkEnd();
  }
});
