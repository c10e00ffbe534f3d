/**
 * How a rank's thread waits: the `Host` of both bindings (mpi/, abi/) in the real world.
 *
 * Blocking calls block. The loop is always the same: make progress; when nothing moved, let `Waiting` spin, yield or park.
 * Notices of deaths are read in every turn, so every wait ends when the peer it depends on dies. `await`ed requests are
 * completed from the event loop instead, which is kept alive meanwhile.
 */
import { assert } from "../../core/base/assert.ts";
import type { Pointer, RecordId } from "../../core/base/brand.ts";
import type { ProcessName } from "../../core/base/identity.ts";
import { ChoiceKind, type Choices } from "../../core/ft/choices.ts";
import { Now } from "../../core/p2p/engine.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import type { Process } from "../../core/process/process.ts";
import type { Spawner } from "../../core/process/spawner.ts";
import type { KeptNumbers } from "../../core/service/set-checkpoints.ts";
import { steadyMs } from "../machine/steady-clock.ts";
import { HeldNotices } from "./held-notices.ts";
import { InquiryPauses } from "./inquiry-pauses.ts";
import type { RankWhereabouts, WaitedFor } from "./rank-whereabouts.ts";

/** The part of the waiting strategy (waiting.ts) that is used here. */
interface WaitingPort {
  /** Nothing moved: spins, yields or parks, more patiently each time. */
  idle(): void;
  /** How often `idle` and `whenSomething` have slept. */
  readonly parks: number;
  /** Nothing moved, and the program does not wait: gives the core away now and then. True: it did. */
  glance(): boolean;
  /** Something moved. */
  reset(): void;
  /** Waits for a packet without blocking the thread: resolves when there may be work. */
  whenSomething(): Promise<void>;
}

interface Hearer {
  died(rank: number, incarnation: number): void;
  returned(rank: number, incarnation: number): void;
  /** No older checkpoint of the rank's set will be restored. */
  trimmed(checkpoint: number): void;
  /** The program of that rank is over, behind the last meeting of its world. */
  left(rank: number): void;
  /** This process was to go on elsewhere in that life, and will not. */
  stays(incarnation: number): void;
}

/** Reads the dispatcher's declarations: calls back for every new death and return. Cheap when there is none. */
interface NoticesPort {
  /** Are there any? */
  isNews(): boolean;
  deliver(hearer: Hearer): boolean;
}

/** Resolves when the program's own callbacks have run. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** May a timer, a file or a socket of the program end what an `await` waits for? One timer is this file's. */
function hasOtherWork(): boolean {
  const kinds = process.getActiveResourcesInfo().filter((kind) => kind !== "CloseReq");
  return kinds.length > 1 || kinds[0] !== "Timeout";
}

/** Gets the spans to draw while a trace is written. */
interface SpanTracer {
  begin(name: string, peer: number, tag: number, bytes: number): void;
  end(): void;
}

interface RankHostOptions {
  readonly process: Process;
  readonly waiting: WaitingPort;
  readonly notices: NoticesPort;
  readonly survivesDeaths: boolean;
  /** Of this process, as notices count them. */
  readonly number: number;
  /** Which rank the process of that number plays, as which replica. */
  nameOf(process: number): ProcessName;
  readonly processorName: string;
  readonly tracer: SpanTracer | null;
  readonly whereabouts: RankWhereabouts;
  /** A word that other threads write: not 0 asks the process to stop inside its current call. */
  readonly stop: { readonly words: Int32Array; readonly at: number };
  /** The checkpoints that counted when the process was last asked for another. */
  kept(): KeptNumbers;
  readonly spawner: Spawner;
  abort(code: number, message: string, members: readonly number[]): never;
  /** Others have been told that this process is dead: where it shares its thread, it ends here. */
  buried(): void;
  result(value: unknown): void;
  checkpoint(state: Uint8Array): void;
  restored(): Uint8Array | null;
}

interface Awaited {
  readonly number: number;
  readonly isReady: () => boolean;
  readonly resolve: () => void;
  /** What it waits for, if that is a request. */
  readonly request: RecordId | undefined;
}

export class RankHost {
  readonly process: Process;
  readonly survivesDeaths: boolean;
  readonly processorName: string;
  readonly tracer: SpanTracer | null;
  readonly stop: RankHostOptions["stop"];
  readonly #kept: () => KeptNumbers;
  readonly spawner: Spawner;
  /** Tells the node where the rank is, in waits that last. */
  readonly whereabouts: RankWhereabouts;
  /** A restored process continues with the time of its earlier life. */
  clockShiftS = 0;
  readonly #waiting: WaitingPort;
  readonly #notices: NoticesPort;
  readonly #options: RankHostOptions;
  readonly #hearer: Hearer;
  readonly #inquiryPauses = new InquiryPauses();
  readonly #held = new HeldNotices();
  /** Does it wait at the gate of a board? */
  #isAtGate = false;
  /** Does a data plane wait for the end of a wait? */
  readonly #hasPlane: boolean;
  /**
   * Are notices read at the end of every wait? Where several processes play a rank one that is behind finds its messages there, and never has nothing to do; a clone, or a process that has been
   * moved, would wait for it.
   */
  readonly #hearsSoon: boolean;
  #postponed: { readonly wanted: number; isTooEarly(): boolean } | null = null;
  /** How often the process had slept when it last looked at the time. */
  #parks = 0;
  /** Conditions that `await`s wait for, in the order of the `await`s. */
  readonly #awaited = new Set<Awaited>();
  /** The number of `await`s so far; plain data, part of an image. */
  readonly awaits = { count: 0 };
  /** The number of the `await` that a replay resumes next; −1: not asked yet. */
  #nextAwait = -1;
  #pumping = false;

  constructor(options: RankHostOptions) {
    this.process = options.process;
    this.survivesDeaths = options.survivesDeaths;
    this.processorName = options.processorName;
    this.tracer = options.tracer;
    this.stop = options.stop;
    this.#kept = () => options.kept();
    this.spawner = options.spawner;
    this.whereabouts = options.whereabouts;
    this.#waiting = options.waiting;
    this.#notices = options.notices;
    this.#options = options;
    this.#hasPlane = options.process.pass.isUsed;
    this.#hearsSoon = (options.process.protocol?.cloning ?? null) !== null;
    this.#hearer = {
      died: (process, incarnation) => {
        if (process === options.number && options.survivesDeaths) options.buried();
        else this.process.peerFailed(options.nameOf(process), incarnation);
      },
      returned: (process, incarnation) => this.process.peerReturned(options.nameOf(process), incarnation),
      trimmed: (checkpoint) => this.process.protocol?.trimmedTo(checkpoint),
      left: (rank) => this.process.peerLeft(rank),
      stays: (incarnation) => this.process.protocol?.cloning?.stay(incarnation),
    };
  }

  /** As everywhere in this file: false when the process has to stop first (C programs only, see abi/waiting/suspension.ts). */
  wait(request: RecordId): boolean {
    const { process } = this;
    const { engine } = process;
    const waiting = this.#waiting;
    if (this.tracer !== null) this.tracer.begin("wait", -1, 0, 0);
    while (!engine.isComplete(request)) {
      if (process.progress()) waiting.reset();
      else {
        if (this.shallStop()) break;
        this.listen();
        if (this.#idle()) this.whereabouts.slept({ kind: "request", request });
      }
    }
    this.#reset();
    if (this.tracer !== null) this.tracer.end();
    return engine.isComplete(request);
  }

  waitForGate(comm: Communicator): void {
    // The other members are seldom far: the first look at the gate comes before all else.
    if (!this.process.isBusy) this.#waiting.idle();
    if (comm.board?.passed() === true) this.#waiting.reset();
    else this.#waitLongForGate(comm);
  }

  #waitLongForGate(comm: Communicator): void {
    const { process } = this;
    const board = comm.board!;
    process.inquiries.enterGate(comm);
    this.#isAtGate = true;
    try {
      while (!board.passed()) {
        if (process.progress()) {
          this.#waiting.reset();
          process.checkGate(comm, board);
        } else {
          if (this.listen() || process.failures.count !== 0) {
            // The gate may have opened since: then the dead has come through it as well.
            if (board.passed()) break;
            process.failures.checkMembers(comm);
          }
          if (this.#idle()) this.whereabouts.slept({ kind: "gate", comm });
        }
      }
    } finally {
      process.inquiries.leaveGate();
      this.#isAtGate = false;
      this.#reset();
    }
  }

  waitUntil(isReady: () => boolean): boolean {
    while (!isReady()) {
      if (this.process.progress()) this.#waiting.reset();
      else {
        if (this.shallStop()) return false;
        this.listen();
        if (this.#idle()) this.whereabouts.slept();
      }
    }
    this.#reset();
    return true;
  }

  /** Waits until `isOver`, even if the process is asked to stop. Only messages progress; the rest is up to `isOver`. */
  settle(isOver: () => boolean): void {
    const { engine } = this.process;
    while (!isOver()) {
      if (engine.progress()) this.#waiting.reset();
      else {
        this.listen();
        this.#waiting.idle();
      }
    }
    this.#waiting.reset();
  }

  /**
   * The process has been captured, and others that are captured with it have not: it must not take a message. A choice made now
   * would be in the log before the position from which the log is replayed, and the image would lack it.
   */
  standStill(isOver: () => boolean): void {
    while (!isOver()) {
      this.listen();
      this.#waiting.idle();
    }
    this.#waiting.reset();
  }

  /** DONE, MUST_POST, or NOTHING when the process has to stop. */
  receiveNow(to: Pointer, room: number, source: number, tag: number, context: number): number {
    const { engine } = this.process;
    const waiting = this.#waiting;
    for (;;) {
      const now = engine.receiveNow(to, room, source, tag, context);
      if (now !== Now.NOTHING) {
        this.#reset();
        return now;
      }
      // Sends that wait for room, pieces and operations under way go on during the wait.
      if (this.process.isBusy && this.process.progress()) waiting.reset();
      else {
        if (this.shallStop()) return Now.NOTHING;
        this.listen();
        if (this.#idle()) this.whereabouts.slept({ kind: "message", peer: source, tag, context });
      }
    }
  }

  /** For calls that do not wait, as MPI_Test: reads notices of deaths as waits do, and gives the core away now and then. */
  look(): void {
    if (this.process.progress()) return;
    this.listen();
    if (this.#waiting.glance()) this.#waitLonger();
  }

  named(comm: Communicator, name: string): void {
    this.whereabouts.named(comm, name);
  }

  /** Nothing moved, and the program waits. True: it has slept. */
  #idle(): boolean {
    this.#waiting.idle();
    if (this.#waiting.parks === this.#parks) return false;
    this.#parks = this.#waiting.parks;
    this.#waitLonger();
    return true;
  }

  /** A wait that has lasted some time already: now and then the process asks those it waits for. */
  #waitLonger(): void {
    if (this.process.inquiries.isWaiting && this.#inquiryPauses.isTime(steadyMs())) this.process.inquiries.ask();
  }

  /** A wait is over. */
  #reset(): void {
    this.#waiting.reset();
    this.#inquiryPauses.end();
    if (this.whereabouts.sleeps !== 0) this.whereabouts.end();
    if (this.#hasPlane) this.process.openPass();
    if (this.#hearsSoon) this.listen();
  }

  /** The node's order to the process: one of `Stop`. */
  get wanted(): number {
    return this.stop.words[this.stop.at]!;
  }

  /** The checkpoints that counted when the process was last asked for another. */
  get kept(): KeptNumbers {
    return this.#kept();
  }

  /** Has the node ordered the process to stop? */
  shallStop(): boolean {
    const { wanted } = this;
    if (wanted === 0) return false;
    const postponed = this.#postponed;
    return postponed === null || postponed.wanted !== wanted || !postponed.isTooEarly();
  }

  /** It cannot do now what it was ordered to stop for, `wanted`: its program goes on, and waits as ever, until it can or the order is another. */
  postponeStop(wanted: number, isTooEarly: () => boolean): void {
    this.#postponed = { wanted, isTooEarly };
  }

  /** Reads the node's notices; true when there were any. */
  listen(): boolean {
    if (!this.#notices.isNews() || this.#keepsBack()) return false;
    return this.#notices.deliver(this.#hearer);
  }

  /** What is under way may be through in a moment, and a death would end it. The wait goes on with looks, not with sleep. */
  #keepsBack(): boolean {
    if (!this.survivesDeaths) return false;
    const { collectives, tasks } = this.process;
    const isUnderWay = this.#isAtGate || collectives.isBusy || tasks.length !== 0;
    if (!this.#held.holds(isUnderWay, steadyMs())) return false;
    this.#waiting.reset();
    return true;
  }

  exit(): never {
    return globalThis.process.exit(0);
  }

  whenReady(isReady: () => boolean, request?: RecordId): Promise<void> {
    return new Promise((resolve) => void this.await(isReady, resolve, request));
  }

  /**
   * Calls `resolve` when the condition holds. The returned function withdraws that; then the thread need not stay alive for it.
   */
  await(isReady: () => boolean, resolve: () => void, request?: RecordId): () => void {
    const awaited = { number: this.awaits.count++, isReady, resolve, request };
    this.#awaited.add(awaited);
    if (!this.#pumping) void this.#pump();
    return () => void this.#awaited.delete(awaited);
  }

  /** Makes progress from the event loop as long as there are `await`s. */
  async #pump(): Promise<void> {
    this.#pumping = true;
    // Keeps the event loop busy: a thread without any work would end silently.
    const alive = setInterval(() => {}, 2 ** 30);
    const { choices } = this.process;
    try {
      // The next `await` to resume is chosen when the program has no other callback to run: in every life at the same place.
      if (choices !== null) await nextTurn();
      while (this.#awaited.size > 0) {
        const moved = this.process.progress();
        this.#notices.deliver(this.#hearer);
        const woken = choices === null ? this.#resumeAll() : this.#resumeOne(choices);
        // Lets the program's own callbacks run; sleeps only without work.
        if (woken) this.#awakened();
        if (moved || woken) await nextTurn();
        else {
          await this.#waiting.whenSomething();
          this.#waitLonger();
          this.#tellOfAwaits();
        }
      }
    } finally {
      clearInterval(alive);
      this.#awakened();
      this.#pumping = false;
    }
  }

  #awakened(): void {
    this.#inquiryPauses.end();
    if (this.whereabouts.sleeps !== 0) this.whereabouts.end();
  }

  /** An `await` has waited; the event loop is told of nothing but the first one's request. */
  #tellOfAwaits(): void {
    if (this.#waiting.parks === this.#parks) return;
    this.#parks = this.#waiting.parks;
    const first = [...this.#awaited].find(({ request }) => request !== undefined)?.request;
    const waitedFor: WaitedFor = first === undefined ? { kind: "call" } : { kind: "request", request: first };
    this.whereabouts.slept(waitedFor, this.#awaited.size === 1 && !hasOtherWork());
  }

  #resumeAll(): boolean {
    let woken = false;
    for (const awaited of this.#awaited) {
      if (!awaited.isReady()) continue;
      this.#awaited.delete(awaited);
      awaited.resolve();
      woken = true;
    }
    return woken;
  }

  /** One at a time: the program's reaction comes before the next. */
  #resumeOne(choices: Choices): boolean {
    const awaited = this.#nextAwaited(choices);
    if (awaited === undefined) return false;
    this.#awaited.delete(awaited);
    awaited.resolve();
    return true;
  }

  #nextAwaited(choices: Choices): Awaited | undefined {
    if (this.#nextAwait < 0) {
      if (!choices.isReady) return undefined;
      const known = choices.replay(ChoiceKind.ANY);
      if (known === undefined) {
        const ready = [...this.#awaited].find(({ isReady }) => isReady());
        if (ready !== undefined) choices.made(ChoiceKind.ANY, [ready.number]);
        return ready;
      }
      assert(known !== null, "an await goes on, or is not heard of");
      this.#nextAwait = known[0]!;
    }
    const next = [...this.#awaited].find(({ number }) => number === this.#nextAwait);
    if (next === undefined || !next.isReady()) return undefined;
    this.#nextAwait = -1;
    return next;
  }

  /** The number of unresolved `await`s. */
  get awaiting(): number {
    return this.#awaited.size;
  }

  checkpoint(state: Uint8Array): void {
    this.#options.checkpoint(state);
  }

  restored(): Uint8Array | null {
    return this.#options.restored();
  }

  abort(code: number, message: string, members: readonly number[]): never {
    return this.#options.abort(code, message, members);
  }

  result(value: unknown): void {
    this.#options.result(value);
  }

  now(): number {
    return steadyMs() / 1000 + this.clockShiftS;
  }

  moveClockTo(seconds: number): void {
    this.clockShiftS += Math.max(0, seconds - this.now());
  }
}
