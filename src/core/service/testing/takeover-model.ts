/**
 * A job whose dispatcher crashes, as a model: nodes as small classes, messages in both directions that are lost with the dispatcher, and
 * the real dispatcher, recovery and takeover. The dispatcher crashes before an order or a record, or in the middle of a record.
 */

import { assert } from "../../base/assert.ts";
import type { DeathPolicy } from "../../ft/definition.ts";
import { Dispatcher, type DispatcherOptions, type DispatcherPorts } from "../dispatcher.ts";
import type { Ending } from "../ending.ts";
import type { JobRecord } from "../job-record.ts";
import { jobStateFrom } from "../job-state.ts";
import { decodeJournal, encodeRecord } from "../journal.ts";
import type { Death } from "../outcome.ts";
import type { Placement } from "../placement.ts";
import { Recovery, type RecoveryPorts } from "../recovery.ts";
import type { LifeStands, NodeAnswer, RankLife } from "../takeover.ts";
import { Takeover } from "../takeover.ts";

type ToNode =
  | { readonly kind: "death"; readonly death: Death }
  | { readonly kind: "returned" | "restart"; readonly lives: readonly RankLife[] }
  | { readonly kind: "end-ranks"; readonly ranks: readonly number[] }
  | { readonly kind: "stop"; readonly set: number; readonly number: number }
  | { readonly kind: "go-on"; readonly set: number }
  | { readonly kind: "end" };

/** What the dispatcher hears: from nodes, from the operating system, and from its own disk and protocol. */
type Heard =
  | ({ readonly kind: "done" } & RankLife)
  | ({ readonly kind: "ended"; readonly ending: Ending } & RankLife)
  | { readonly kind: "began"; readonly node: number; readonly lives: readonly RankLife[] }
  | { readonly kind: "image"; readonly rank: number; readonly number: number }
  | { readonly kind: "verified"; readonly set: number; readonly number: number }
  | { readonly kind: "prepared"; readonly set: number; readonly incarnation: number }
  | { readonly kind: "gone"; readonly node: number; readonly life: number }
  | { readonly kind: "answer"; readonly answer: NodeAnswer };

interface Life {
  readonly incarnation: number;
  stands: LifeStands;
}

/** The process of a node. */
class NodeModel {
  readonly node: number;
  readonly life: number;
  readonly ranks = new Map<number, Life>();
  /** Deaths that it has heard of, in their order. */
  readonly deaths: Death[];
  /** Present lives of all ranks, as far as it knows. */
  readonly lives: number[];
  /** Sets that stand still. */
  readonly stopped = new Set<number>();
  readonly #setOf: readonly number[];
  readonly #say: (heard: Heard) => void;

  constructor(setup: {
    readonly node: number;
    readonly life: number;
    readonly begins: readonly RankLife[];
    readonly deaths: readonly Death[];
    readonly lives: readonly number[];
    readonly setOf: readonly number[];
    readonly say: (heard: Heard) => void;
  }) {
    this.node = setup.node;
    this.life = setup.life;
    this.deaths = [...setup.deaths];
    this.lives = [...setup.lives];
    this.#setOf = setup.setOf;
    this.#say = setup.say;
    this.#begin(setup.begins);
  }

  get answer(): NodeAnswer {
    const { node, life } = this;
    const ranks = [...this.ranks].map(([rank, it]) => ({ rank, ...it, hasCaughtUp: true }));
    return { node, life, deathsHeard: this.deaths.length, ranks };
  }

  /** False: the process ends. */
  told(message: ToNode): boolean {
    switch (message.kind) {
      case "death":
        if (message.death.order < this.deaths.length) break;
        assert(message.death.order === this.deaths.length, "deaths are heard of in their order, without a gap");
        this.deaths.push(message.death);
        break;
      case "returned":
        for (const { rank, incarnation } of message.lives) this.#returned(rank, incarnation);
        break;
      case "restart":
        for (const { rank } of message.lives) this.stopped.delete(this.#setOf[rank]!);
        this.#begin(message.lives);
        break;
      case "end-ranks":
        for (const rank of message.ranks) this.ranks.delete(rank);
        break;
      case "stop":
        this.#stop(message.set, message.number);
        break;
      case "go-on":
        this.stopped.delete(message.set);
        break;
      case "end":
        return false;
    }
    return true;
  }

  /** Programs of this node that can come to an end do. */
  finish(): void {
    for (const [rank, life] of this.ranks) {
      if (life.stands.kind !== "running" || this.stopped.has(this.#setOf[rank]!)) continue;
      life.stands = { kind: "done" };
      this.#say({ kind: "done", rank, incarnation: life.incarnation });
    }
  }

  vanish(rank: number): void {
    const life = this.ranks.get(rank)!;
    const ending = { kind: "vanished", code: 1 } as const;
    life.stands = { kind: "ended", ending };
    this.#say({ kind: "ended", rank, incarnation: life.incarnation, ending });
  }

  #begin(lives: readonly RankLife[]): void {
    for (const { rank, incarnation } of lives) {
      const before = this.ranks.get(rank);
      assert(
        before === undefined || before.incarnation < incarnation,
        `life ${incarnation} of rank ${rank} begins once`,
      );
      this.ranks.set(rank, { incarnation, stands: { kind: "running" } });
      this.lives[rank] = incarnation;
    }
    this.#say({ kind: "began", node: this.node, lives });
  }

  #returned(rank: number, incarnation: number): void {
    if (incarnation <= this.lives[rank]!) return;
    const hasHeard = this.deaths.some((death) => death.rank === rank && death.incarnation === incarnation - 1);
    assert(hasHeard, `the death of life ${incarnation - 1} of rank ${rank} is told before its return`);
    this.lives[rank] = incarnation;
  }

  #stop(set: number, number: number): void {
    this.stopped.add(set);
    for (const rank of this.ranks.keys()) if (this.#setOf[rank] === set) this.#say({ kind: "image", rank, number });
  }
}

class Crash extends Error {}

export interface CrashPlan {
  /** Orders and records are counted, also those of a successor: it crashes before these. */
  readonly before: readonly number[];
  /** Does the dispatcher crash in the middle of the step, if it is a record? */
  readonly isTorn: boolean;
  /** Does a message that was on its way to that node arrive all the same? */
  arrives(node: number): boolean;
}

/** To a process of a node. */
interface Sent {
  readonly node: number;
  readonly life: number;
  readonly message: ToNode;
}

export interface WorldShape {
  readonly placement: Placement;
  readonly setOf: readonly number[];
  readonly deaths: DeathPolicy;
  readonly ranks?: number;
}

export class TakeoverWorld {
  readonly nodes: (NodeModel | null)[] = [];
  readonly done = new Set<string>();
  dispatcher: Dispatcher;
  recovery: Recovery;
  isOver = false;
  crashes = 0;
  /** Images that are there, as set.number. */
  readonly images = new Set<string>();
  readonly #shape: WorldShape;
  readonly #crash: CrashPlan;
  #journal: number[] = [];
  #steps = 0;
  #nowMs = 0;
  #toNodes: Sent[] = [];
  #heard: Heard[] = [];
  /** Nodes whose process is to be started when their ranks are prepared. */
  #places = new Set<number>();
  #takeover: Takeover | null = null;

  constructor(shape: WorldShape, crash: CrashPlan) {
    this.#shape = shape;
    this.#crash = crash;
    const { placement, ranks = placement.length } = shape;
    this.dispatcher = new Dispatcher(this.#options(), this.#dispatcherPorts(), 0);
    this.recovery = this.#createRecovery();
    for (let node = 0; node <= Math.max(...placement); node++) {
      const begins = [...placement.keys()].filter((rank) => placement[rank] === node && rank < ranks);
      this.#start(
        node,
        begins.map((rank) => ({ rank, incarnation: 0 })),
      );
    }
  }

  get journal(): readonly JobRecord[] {
    const read = decodeJournal(Uint8Array.from(this.#journal));
    assert(read.kind === "read", "the journal is whole but for its end");
    this.#journal.length = read.bytes;
    return read.records;
  }

  /** The process of a node is gone. */
  kill(node: number): void {
    const it = this.nodes[node] ?? null;
    if (it === null) return;
    this.nodes[node] = null;
    this.#heard.push({ kind: "gone", node, life: it.life });
  }

  /** Whatever is on its way arrives, and what follows from that. */
  run(): void {
    for (let left = 10_000; left > 0; left--) {
      if (!this.#step()) return;
    }
    assert(false, "a job comes to rest");
  }

  /** Something is done to the dispatcher, which may crash. */
  attempt(act: () => void): void {
    try {
      act();
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      this.#takeOver();
    }
  }

  /** All programs come to their end, as often as they begin again. */
  finish(): void {
    for (let round = 0; round < 20 && !this.isOver; round++) {
      for (const node of this.nodes) node?.finish();
      this.run();
    }
  }

  takeCheckpoints(): void {
    this.attempt(() => this.recovery.takeAll(this.#nowMs));
    this.run();
  }

  admit(count: number): void {
    this.attempt(() => {
      const ranks = this.dispatcher.admit(count) ?? [];
      for (const rank of ranks) {
        const lives = [{ rank, incarnation: 0 }];
        this.#order(() => this.#send(this.#shape.placement[rank]!, { kind: "restart", lives }));
      }
    });
    this.run();
  }

  #step(): boolean {
    const sent = this.#toNodes.shift();
    if (sent !== undefined) {
      this.#arrive(sent);
      return true;
    }
    const heard = this.#heard.shift();
    if (heard !== undefined) this.attempt(() => this.#hear(heard));
    return heard !== undefined;
  }

  #arrive({ node, life, message }: Sent): void {
    const process = this.nodes[node] ?? null;
    if (process !== null && process.life === life && !process.told(message)) this.kill(node);
  }

  #hear(heard: Heard): void {
    const nowMs = ++this.#nowMs;
    const { dispatcher, recovery } = this;
    switch (heard.kind) {
      case "done":
        dispatcher.rankDone(heard.rank, heard.incarnation, nowMs);
        break;
      case "ended":
        dispatcher.rankEnded(heard.rank, heard.incarnation, heard.ending, nowMs);
        break;
      case "began":
        for (const { rank, incarnation } of heard.lives) {
          if (this.#isRecovering) recovery.began(rank, incarnation, nowMs);
        }
        for (const { rank } of heard.lives) dispatcher.falls.caughtUp(rank);
        this.#announce(heard);
        break;
      case "image": {
        const image = { number: heard.number, position: heard.number, callsPassed: 1, settledMs: 0, problem: "" };
        recovery.imageStored(heard.rank, image, nowMs);
        break;
      }
      case "verified":
        recovery.verified(heard.set, heard.number, "", nowMs);
        break;
      case "prepared":
        recovery.prepared(heard.set, heard.incarnation, { forRanks: null });
        break;
      case "gone":
        if (dispatcher.state.nodes[heard.node]!.life !== heard.life) break;
        dispatcher.nodeEnded(heard.node, { kind: "signal", signal: "SIGKILL", signalNumber: 9 }, nowMs);
        break;
      case "answer":
        this.#takeover?.answered(heard.answer, nowMs);
        break;
    }
  }

  get #isRecovering(): boolean {
    return this.#shape.deaths === "replaced";
  }

  #announce({ node, lives }: { readonly node: number; readonly lives: readonly RankLife[] }): void {
    const returned = lives.filter(({ incarnation }) => incarnation > 0);
    if (returned.length === 0) return;
    this.#takeover?.began(node, returned);
    for (const other of this.nodes.keys()) {
      if (other !== node) this.#order(() => this.#send(other, { kind: "returned", lives: returned }));
    }
  }

  /** Everything that only the dispatcher knew is gone, with all that was on its way; its successor has the journal and asks. */
  #takeOver(): void {
    this.crashes++;
    const arriving = this.#toNodes.filter(({ node }) => this.#crash.arrives(node));
    this.#toNodes = [];
    for (const each of arriving) this.#arrive(each);
    this.#heard = [];
    this.#places.clear();
    this.#nowMs += 1000;
    const { dispatcher, recovery } = jobStateFrom(this.journal);
    this.dispatcher = new Dispatcher(this.#options(), this.#dispatcherPorts(), this.#nowMs, {
      state: dispatcher,
      startMs: 0,
    });
    this.recovery = this.#createRecovery(recovery);
    const { placement, ranks = placement.length } = this.#shape;
    this.#takeover = new Takeover({ placement, ranks }, this.dispatcher, {
      refuse: (node) => this.kill(node),
      end: (node) => this.#send(node, { kind: "end" }),
      tell: (node, death) => this.#send(node, { kind: "death", death }),
      goOn: (node) => {
        for (const set of this.#shape.setOf) this.#send(node, { kind: "go-on", set });
      },
      returned: (node, lives) => this.#send(node, { kind: "returned", lives }),
      endRanks: (node, each) => this.#send(node, { kind: "end-ranks", ranks: each }),
    });
    this.attempt(() => {
      this.dispatcher.takeOver();
      if (this.#isRecovering) this.recovery.takeOver(this.#nowMs);
      this.#ask();
    });
  }

  #ask(): void {
    for (const [node, process] of this.nodes.entries()) {
      const { life } = this.dispatcher.state.nodes[node]!;
      if (process === null) this.#heard.push({ kind: "gone", node, life });
      else this.#heard.push({ kind: "answer", answer: process.answer });
    }
  }

  #order(act: () => void): void {
    if (this.#crash.before.includes(this.#steps++)) throw new Crash();
    act();
  }

  #record(record: JobRecord): void {
    const bytes = encodeRecord(record);
    if (this.#crash.before.includes(this.#steps++)) {
      if (this.#crash.isTorn) this.#journal.push(...bytes.subarray(0, bytes.length >> 1));
      throw new Crash();
    }
    this.#journal.push(...bytes);
  }

  #send(node: number, message: ToNode): void {
    const process = this.nodes[node] ?? null;
    if (process !== null && this.#takeover?.isLinked(node) !== false)
      this.#toNodes.push({ node, life: process.life, message });
  }

  #start(node: number, begins: readonly RankLife[]): void {
    const { ranks, deaths, nodes } = this.dispatcher.state;
    const lives = ranks.map(({ incarnation }) => incarnation);
    for (const { rank } of begins) {
      const elsewhere = this.nodes.some((other) => other !== null && other.node !== node && other.ranks.has(rank));
      assert(!elsewhere, `rank ${rank} lives once`);
    }
    assert((this.nodes[node] ?? null) === null, `node ${node} has one process`);
    const setup = { node, life: nodes[node]!.life, begins, deaths, lives, setOf: this.#shape.setOf };
    this.nodes[node] = new NodeModel({ ...setup, say: (heard) => this.#heard.push(heard) });
  }

  #options(): DispatcherOptions {
    const { placement, setOf, deaths, ranks = placement.length } = this.#shape;
    const patience = { patienceMs: 1e9, starvedPatienceMs: 1e9, startPatienceMs: 1e9, starvedStartPatienceMs: 1e9 };
    const times = { heartbeatMs: 100, endPatienceMs: 1e9, timeoutMs: 1e9 };
    return { ...patience, ...times, ranks, nodes: Math.max(...placement) + 1, placement, setOf, deaths };
  }

  #dispatcherPorts(): DispatcherPorts {
    const quiet = (): void => this.#order(() => undefined);
    return {
      record: (record) => this.#record(record),
      tell: (death) =>
        this.#order(() => {
          for (const node of this.nodes.keys()) this.#send(node, { kind: "death", death });
        }),
      left: quiet,
      restart: (node, ranks) =>
        this.#order(() => {
          this.#places.add(node);
          this.recovery.fallen(ranks, this.#nowMs);
        }),
      restartRanks: (_, ranks) => this.#order(() => this.recovery.fallen(ranks, this.#nowMs)),
      endRanks: (node, ranks) => this.#order(() => this.#send(node, { kind: "end-ranks", ranks })),
      decided: quiet,
      survived: quiet,
      work: () => 0,
      end: (node) => this.#order(() => this.#send(node, { kind: "end" })),
      kill: (node) => this.#order(() => this.kill(node)),
      disown: quiet,
      ended: () =>
        this.#order(() => {
          this.isOver = true;
        }),
    };
  }

  #createRecovery(predecessor?: Recovery["state"]): Recovery {
    const { setOf } = this.#shape;
    const part = {
      prepare: ({ set, incarnation }: { readonly set: number; readonly incarnation: number }) =>
        void this.#heard.push({ kind: "prepared", set, incarnation }),
      mayCommit: () => true,
      committed: () => undefined,
    };
    const quiet = (): void => undefined;
    const toSet = (set: number, message: ToNode): void => {
      const its = new Set(this.#shape.placement.filter((_, rank) => setOf[rank] === set));
      for (const node of its) this.#order(() => this.#send(node, message));
    };
    const ports: RecoveryPorts = {
      record: (record) => this.#record(record),
      restart: (ranks) => this.#restart(ranks),
      hopeless: () => assert(false, "nothing is hopeless here"),
      fell: quiet,
      stop: (set, number) => toSet(set, { kind: "stop", set, number }),
      goOn: (set) => toSet(set, { kind: "go-on", set }),
      verify: (set, number) => {
        this.images.add(`${set}.${number}`);
        this.#heard.push({ kind: "verified", set, number });
      },
      drop: (set, number) => this.#order(() => this.images.delete(`${set}.${number}`)),
      oldest: quiet,
      committed: quiet,
      recovered: quiet,
      happened: quiet,
      note: quiet,
    };
    const options = { setOf, checkpointInterval: { kind: "never" } as const, checkpointPatienceMs: 1e9 };
    return new Recovery(options, part, ports, predecessor);
  }

  /** All is prepared: on nodes that live ranks begin again, other nodes get a process. */
  #restart(ranks: readonly number[]): void {
    const { placement } = this.#shape;
    for (const node of new Set(ranks.map((rank) => placement[rank]!))) {
      const its = ranks.filter((rank) => placement[rank] === node);
      const lives = its.map((rank) => ({ rank, incarnation: this.dispatcher.state.ranks[rank]!.incarnation }));
      this.#order(() => {
        if (this.#places.delete(node)) {
          this.#start(node, lives);
          this.#takeover?.started(node);
        } else this.#send(node, { kind: "restart", lives });
      });
    }
  }
}
