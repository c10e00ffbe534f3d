/**
 * The same random programs of C ranks in two worlds, step by step, one with a data plane and one without. After every step both have given the same
 * answer, and every so often all memories are alike; images that are taken in between are exchanged, so that what one way has begun the other must be
 * able to finish.
 */
import assert from "node:assert/strict";
import { SeededRandom } from "../../../core/base/seeded-random.ts";
import { DeterminantKind } from "../../../core/ft/determinants/determinant-stream.ts";
import type { EngineTracer } from "../../../core/p2p/engine.ts";
import { isNaNAt, resultsAt } from "./float-results.ts";
import { PlaneWorld, type PlaneWorldOptions, WAITS } from "./plane-world.ts";
import { buffersAt, bytesUsed, comparable, randomSteps, type Step, textOf } from "./random-calls.ts";

export const ERRORS_RETURN = 0x143;
export const COMM_WORLD = 0x101;
export const stepsPerProgram = 150;
/** No collective in which ranks may disagree receives more. */
const undefinedBytesMax = 8192;

/** More room than a program can fill. */
export const ample = { slots: 512, unexpectedBytesMax: 1 << 24 };

/** No message of these programs waits for its receive: a plane that begins a receive does not look for its message. */
export const allEagerBytes = 16_640;

/** Two worlds that do the same. */
export class Pair {
  planed: PlaneWorld;
  plain: PlaneWorld;
  readonly ranks: number;
  readonly #options: Omit<PlaneWorldOptions, "hasPlane">;
  /** Messages that planes have taken so far, in all worlds. */
  sent = 0;
  received = 0;
  /** Waits in which planes have stopped. */
  waits = 0;
  /** Collectives that planes have completed, and that they have left to the engine half way. */
  completed = 0;
  left = 0;
  /** Requests that engines have taken over from planes. */
  adopted = 0;
  /** Determinants of planes and engines, of engines alone, and those that planes need not record. */
  readonly recorded = { planed: 0, plain: 0, spared: 0 };
  /** What tracers have been told. */
  told = 0;

  constructor(options: Omit<PlaneWorldOptions, "hasPlane">) {
    this.#options = options;
    this.ranks = options.ranks;
    this.planed = new PlaneWorld({ ...options, hasPlane: true });
    this.plain = new PlaneWorld({ ...options, hasPlane: false });
  }

  /** Does every message find room? Then all calls can be compared. */
  get isAmple(): boolean {
    return this.#options.slots === ample.slots;
  }

  /** Are receives from any source posted while messages for them may be in the ring, which the other world has stored already? */
  get mayPostAnySource(): boolean {
    return this.beginsRequests && (this.#options.isLogged === true || this.#options.sockets !== undefined);
  }

  get beginsRequests(): boolean {
    return this.#options.beginsRequests === true;
  }

  get worlds(): readonly PlaneWorld[] {
    return [this.planed, this.plain];
  }

  /** Both do it, and answer alike. */
  alike<T>(what: string, act: (world: PlaneWorld) => T): T {
    const [a, b] = this.worlds.map(act);
    assert.deepEqual(a, b, `${what}: with a plane, and without`);
    return a!;
  }

  /** All look, in both worlds, and a call that comes to its end thereby in the one does so in the other. */
  settle(): void {
    for (const world of this.worlds) world.settle();
    for (const [rank, { isAhead }] of this.planed.ranks.entries()) if (isAhead) this.plain.ranks[rank]!.goAhead();
  }

  isWaiting(rank: number): boolean {
    return this.alike("waiting", ({ ranks }) => ranks[rank]!.isWaiting);
  }

  call(rank: number, { name, args }: Step): number {
    return this.alike(`${name} of rank ${rank}`, ({ ranks }) => {
      const own = ranks[rank]!;
      return own.call(name, ...args.map((arg) => (typeof arg === "number" ? arg : own.ints[arg.at >> 2]!)));
    });
  }

  /** A message that a plane has left in the ring is where a receive that was posted later wants it when all have looked. */
  compareMemories(): void {
    if (!this.areMemoriesAlike()) this.settle();
    assert.ok(this.areMemoriesAlike(), "the memories of all ranks are alike");
  }

  /** What a call that failed has left where it should have received is undefined: here, from now on, the same. */
  equateBuffers(rank: number, { args }: Step): void {
    const [from, to] = [this.planed, this.plain].map(({ ranks }) => ranks[rank]!.bytes);
    for (const at of args) {
      if (typeof at === "number" && at >= buffersAt && at < bytesUsed)
        to!.set(from!.subarray(at, at + undefinedBytesMax), at);
    }
  }

  /** The bits of a result that is not a number depend on how V8 has compiled the one who computed it: here, from now on, they are the same. */
  equateNaNs(rank: number, step: Step): void {
    const [from, to] = [this.planed, this.plain].map(({ ranks }) => ranks[rank]!.bytes) as [Uint8Array, Uint8Array];
    for (const at of resultsAt(step)) {
      if (isNaNAt(from, at) && isNaNAt(to, at)) to.set(from.subarray(at.from, at.from + at.bytes), at.from);
    }
  }

  areMemoriesAlike(): boolean {
    const [ours, theirs] = this.worlds.map(({ ranks }) => ranks.map(({ bytes }) => comparable(bytes)));
    return ours!.every((bytes, rank) => Buffer.compare(bytes, theirs![rank]!) === 0);
  }

  /** Nothing is under way: what the engines have is alike. */
  compareEngines(): void {
    this.settle();
    for (let rank = 0; rank < this.ranks; rank++) {
      this.alike(`the engine of rank ${rank}`, (world) => {
        const { isWaiting, process } = world.ranks[rank]!;
        const { engine, communicators } = process;
        const calls = [...communicators.values()].map((comm) => [
          ...[comm.context, comm.nextNumber, comm.lastCollective, comm.lastKind, comm.lastRoot, comm.lastBytes],
          ...[comm.lastError, comm.board === null],
        ]);
        const { posted, unexpected, records, outbox, transfers, completion } = engine;
        const numbers = Array.from({ length: this.ranks }, (_, dest) => outbox.numbers.last(dest));
        const requests = { posted: posted.count, records: records.count, unfinished: completion.unfinished };
        return {
          calls,
          unexpected: unexpected.count,
          numbers,
          waiting: outbox.count,
          isBusy: transfers.isBusy,
          // A blocking receive behind one that is posted is posted as well: who looked late has the one in front of it still, when it comes to that.
          ...(this.mayPostAnySource && isWaiting ? {} : requests),
        };
      });
    }
  }

  /** What the ranks would see again in another life. A plane records no choice where there is one sender, which an engine does not know. */
  compareDeterminants(): void {
    const [ours, theirs] = this.worlds.map(({ stream }) => entriesOf(stream.words));
    for (let rank = 0; rank < this.ranks; rank++) {
      const [planed, plain] = [ours!, theirs!].map((entries) => entries.filter((entry) => entry[1] === rank));
      let at = 0;
      for (const entry of plain!) {
        if (planed![at]?.join() === entry.join()) at++;
        else {
          const [length, , kind, , source] = entry;
          assert.deepEqual([length, kind], [6, DeterminantKind.MATCH], `rank ${rank} lacks ${entry}`);
          assert.ok(this.ranks === 1 || source !== rank, `rank ${rank} lacks ${entry}: it might be another's`);
          this.recorded.spared++;
        }
      }
      assert.equal(at, planed!.length, `rank ${rank} has all others, in their order`);
      this.recorded.planed += planed!.length;
      this.recorded.plain += plain!.length;
      this.alike(`calls passed by rank ${rank}`, ({ ranks }) => {
        const { isWaiting, process } = ranks[rank]!;
        process.protocol?.captured(1);
        // A receive counts when it is posted, or else when it is over.
        return this.mayPostAnySource && isWaiting ? null : process.protocol?.callsPassed;
      });
    }
  }

  /** The one goes on from the images of the other. */
  exchangeImages(): void {
    this.settle();
    if (this.worlds.some(({ ranks }) => ranks.some(({ isAhead }) => isAhead))) return;
    this.count();
    this.compareDeterminants();
    const [ofPlaned, ofPlain] = this.worlds.map((world) => ({
      images: world.images(),
      waitsIn: world.ranks.map((rank) => rank.waitsIn),
    }));
    this.planed = new PlaneWorld({ ...this.#options, hasPlane: true });
    this.plain = new PlaneWorld({ ...this.#options, hasPlane: false });
    for (const [world, from] of [[this.planed, ofPlain!] as const, [this.plain, ofPlaned!] as const]) {
      world.restore(from.images);
      for (const [rank, call] of from.waitsIn.entries()) {
        if (call !== null) world.ranks[rank]!.waitIn(call.name, call.args);
      }
    }
  }

  count(): void {
    for (const { plane, planeWaits } of this.planed.ranks) {
      if (plane === null) continue;
      this.waits += planeWaits;
      this.adopted += plane.light?.adoptions ?? 0;
      this.sent += plane.pass.sent;
      this.received += plane.pass.received;
      this.completed += plane.meetings.completed;
      this.left += plane.meetings.left;
    }
  }
}

/** The entries of a stream of determinants. */
function entriesOf(words: readonly number[]): number[][] {
  const entries: number[][] = [];
  for (let at = 0; at < words.length; at += words[at]!) entries.push(words.slice(at, at + words[at]!));
  return entries;
}

interface Events {
  /** Before that many steps are done. */
  readonly imagesEvery?: number;
  readonly killAt?: number;
  readonly traceAt?: number;
  /** See `randomSteps`. */
  readonly collectives?: number;
  readonly mayDiffer?: boolean;
}

/** Do others call something else? A broadcast that meets a reduction of the same length on a board gets what an earlier round has left there. */
function isAlone(rank: number, steps: readonly Step[]): boolean {
  return steps.some(({ name }) => name !== steps[rank]!.name);
}

/** Runs a random program to its end, or until nobody can go on; the number of its steps that are done. */
export function run(pair: Pair, seed: number, events: Events = {}): number {
  const { imagesEvery = 0, killAt = -1, traceAt = -1, collectives = 0, mayDiffer = false } = events;
  const random = new SeededRandom(seed);
  const below = (bound: number): number => random.bits() % bound;
  const kinds = { exchanges: pair.isAmple, requests: pair.beginsRequests, collectives, mayDiffer };
  const queues = randomSteps({ random, ranks: pair.ranks, steps: stepsPerProgram, ...kinds });
  for (const world of pair.worlds) {
    for (const { ints, process } of world.ranks) {
      const fill = new SeededRandom(seed * 64 + process.rank);
      for (let at = 4096; at < bytesUsed; at += 4) ints[at >> 2] = fill.bits();
    }
  }
  for (let rank = 0; rank < pair.ranks; rank++) {
    pair.call(rank, { name: "MPI_Init", args: [0, 0] });
    pair.call(rank, { name: "MPI_Comm_set_errhandler", args: [COMM_WORLD, ERRORS_RETURN] });
  }
  const told: string[][] = [];
  const history: string[] = [];
  /** Of each rank, the last that it has begun. */
  const steps: Step[] = [];
  let done = 0;
  let dead = -1;
  try {
    for (let idle = 0; idle < 60 * pair.ranks; ) {
      const rank = below(pair.ranks);
      const queue = queues[rank]!;
      if (rank === dead || (queue.length === 0 && !pair.isWaiting(rank))) {
        idle++;
        continue;
      }
      let answer: number;
      let isNew = false;
      if (pair.isWaiting(rank)) {
        answer = pair.alike(`rank ${rank} goes on`, ({ ranks }) => ranks[rank]!.goOn());
        if (mayDiffer && answer === WAITS && idle % 10 === 9) for (const world of pair.worlds) world.ask(dead);
        if (answer === WAITS) idle++;
        else idle = 0;
      } else {
        const step = queue.shift()!;
        history.push(`${rank}: ${textOf(step)}`);
        steps[rank] = step;
        answer = pair.call(rank, step);
        idle = 0;
        done++;
        isNew = true;
      }
      if (mayDiffer && (answer > 0 || (answer === 0 && isAlone(rank, steps)))) pair.equateBuffers(rank, steps[rank]!);
      if (answer === 0) pair.equateNaNs(rank, steps[rank]!);
      if (history.length > 0) history.push(`${history.pop()} → ${answer}`);
      if (isNew && done % 16 === 0) pair.compareMemories();
      if (imagesEvery > 0 && done % imagesEvery === imagesEvery - 1 && idle === 0) pair.exchangeImages();
      if (done === killAt && dead < 0) {
        dead = below(pair.ranks);
        // Whether a message is received that came before the death of its sender depends on who has looked (plane-requests.test.ts has that).
        if (pair.beginsRequests) pair.settle();
        for (const world of pair.worlds) world.kill(dead);
      }
      if (done === traceAt && told.length === 0) {
        for (const world of pair.worlds) told.push(trace(world));
      }
    }
    pair.compareEngines();
    pair.compareMemories();
    pair.compareDeterminants();
    assert.deepEqual(told[0], told[1], "what the tracers were told");
    pair.told += told[0]?.length ?? 0;
  } catch (error) {
    const last = history.slice(-12).join("\n  ");
    throw new Error(`seed ${seed}, after\n  ${last}\n${(error as Error).message}`, { cause: error });
  }
  return done;
}

/** Tracers for all ranks of a world; what they are told from now on. */
function trace(world: PlaneWorld): string[] {
  const told: string[] = [];
  for (const { process } of world.ranks) {
    const tracer: EngineTracer = {
      sent: (...args) => void told.push(`${process.rank} sent ${args.join(" ")}`),
      matched: (...args) => void told.push(`${process.rank} matched ${args.join(" ")}`),
    };
    process.engine.tracer = tracer;
  }
  return told;
}

/** Of the programs; of a longer search another one. */
export const seedFirst = Number(process.env["BANYAN_SEED"] ?? 1) || 1;
