/**
 * The data plane beside the engine (ADR 20): the same random programs of C ranks run in two worlds, step by step, one with a plane and one
 * without. After every step both have given the same answer, and every so often all memories are alike; images that are taken in between
 * are exchanged, so that what one way has begun the other must be able to finish.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { tries } from "../../../test/long.ts";
import { SeededRandom } from "../../core/base/seeded-random.ts";
import { DeterminantKind } from "../../core/ft/determinants/determinant-stream.ts";
import type { EngineTracer } from "../../core/p2p/engine.ts";
import { isNaNAt, resultsAt } from "./testing/float-results.ts";
import { PlaneWorld, type PlaneWorldOptions, WAITS } from "./testing/plane-world.ts";
import { buffersAt, bytesUsed, comparable, randomSteps, type Step, textOf } from "./testing/random-calls.ts";

const ERRORS_RETURN = 0x143;
const COMM_WORLD = 0x101;
const stepsPerProgram = 150;
/** No collective in which ranks may disagree receives more. */
const undefinedBytesMax = 8192;
const programs = tries(5, 12);
/** Where fewer come to the same situations. */
const fewPrograms = tries(2, 12);

/** More room than a program of this file can fill. */
const ample = { slots: 512, unexpectedBytesMax: 1 << 24 };

/** No message of these programs waits for its receive: a plane that begins a receive does not look for its message. */
const allEagerBytes = 16_640;

/** Two worlds that do the same. */
class Pair {
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
function run(pair: Pair, seed: number, events: Events = {}): number {
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

const seedFirst = Number(process.env["BANYAN_SEED"] ?? 1) || 1;

describe("ADR 20: a data plane does what the engine does", () => {
  for (const ranks of [1, 2, 3]) {
    test(`random programs of ${ranks} ranks, step by step`, () => {
      let [done, sent, received] = [0, 0, 0];
      for (let i = 0; i < programs; i++) {
        const eagerBytes = i % 3 === 0 ? 4096 : 1024;
        const pair = new Pair({ ranks, eagerBytes, firstPosition: i % 2 === 0 ? 0 : -40 });
        done += run(pair, seedFirst * 1000 + i);
        pair.count();
        sent += pair.sent;
        received += pair.received;
      }
      assert.ok(done > programs * stepsPerProgram, "most programs get far");
      assert.ok(
        sent > done / 10 && received > done / 20,
        `planes took part: ${done} steps, ${sent} sent, ${received} received`,
      );
    });
  }

  test("ADR 26: planes of ranks that share a thread wait themselves", () => {
    let waits = 0;
    for (let i = 0; i < 2 * programs; i++) {
      const pair = new Pair({ ranks: 2 + (i % 3), planeWaits: "receives" });
      run(pair, seedFirst * 5000 + i);
      pair.count();
      waits += pair.waits;
    }
    assert.ok(waits > 100, `${waits} waits`);
  });

  for (const planeWaits of ["none", "receives"] as const) {
    const whose = planeWaits === "receives" ? " of planes that wait themselves" : "";
    test(`ADR 26: exchanges${whose}, and messages that are taken from behind others`, () => {
      for (let i = 0; i < 2 * fewPrograms; i++) {
        const looksAhead = i % 3 === 0 ? 1 : ample.slots >> 1;
        const room = { ...ample, looksAhead, firstPosition: i % 2 === 0 ? 0 : -40 };
        const pair = new Pair({ ranks: 1 + (i % 4), planeWaits, ...room });
        run(pair, seedFirst * 6000 + i, { imagesEvery: i % 4 === 3 ? 41 : 0, killAt: i % 4 === 2 ? 40 + 5 * i : -1 });
      }
    });
  }

  for (const planeWaits of ["none", "receives"] as const) {
    const whose = planeWaits === "receives" ? " of planes that wait themselves" : "";
    test(`ADR 76: requests${whose}, with images, deaths and tracers in between`, () => {
      let [adopted, received, done] = [0, 0, 0];
      for (let i = 0; i < 4 * fewPrograms; i++) {
        const looksAhead = i % 5 === 0 ? 1 : ample.slots >> 1;
        const room = { ...ample, eagerBytes: allEagerBytes, looksAhead, firstPosition: i % 2 === 0 ? 0 : -40 };
        const pair = new Pair({ ranks: 1 + (i % 4), planeWaits, beginsRequests: true, ...room });
        done += run(pair, seedFirst * 7600 + i, {
          imagesEvery: i % 4 === 3 ? 41 : 0,
          killAt: i % 8 === 2 ? 40 + 5 * i : -1,
          traceAt: i % 8 === 5 ? 30 + i : -1,
          collectives: i % 3 === 0 ? 10 : 0,
        });
        pair.count();
        adopted += pair.adopted;
        received += pair.received;
      }
      assert.ok(adopted > done / 50 && received > done / 20, `${done} steps: ${adopted} adopted, ${received} received`);
    });
  }

  for (const planeWaits of ["none", "receives"] as const) {
    const whose = planeWaits === "receives" ? ", of planes that wait themselves" : "";
    test(`images that are taken in between are exchanged between the two ways${whose}`, () => {
      let [sent, received] = [0, 0];
      for (let i = 0; i < fewPrograms; i++) {
        const pair = new Pair({ ranks: 2, planeWaits });
        run(pair, seedFirst * 2000 + i, { imagesEvery: 41 });
        pair.count();
        sent += pair.sent;
        received += pair.received;
      }
      assert.ok(sent > 0 && received > 0);
    });
  }

  test("ADR 42: a rank that has received all there was need not look once more when it sends", () => {
    const pair = new Pair({ ranks: 2, planeWaits: "receives" });
    for (let rank = 0; rank < 2; rank++) pair.call(rank, { name: "MPI_Init", args: [0, 0] });
    const rounds = 150;
    for (let i = 0; i < rounds; i++) {
      // Rank 0 sends while a message waits for it.
      for (const [rank, name] of [
        [1, "MPI_Send"],
        [0, "MPI_Send"],
        [1, "MPI_Recv"],
        [0, "MPI_Recv"],
      ] as const) {
        const args = [4096, 1, 0x214, 1 - rank, 0, COMM_WORLD];
        assert.equal(pair.call(rank, { name, args: name === "MPI_Recv" ? [...args, 0] : args }), 0);
      }
    }
    pair.count();
    assert.deepEqual([pair.sent, pair.received], [2 * rounds, 2 * rounds]);
  });

  test("ADR 82: beside sockets every 64th call of a plane looks there, and is the engine's when something has come", () => {
    let [taken, looks] = [0, 0];
    for (let i = 0; i < 2 * programs; i++) {
      const random = new SeededRandom(i);
      const pair = new Pair({ ranks: 2 + (i % 3), ...ample, sockets: () => random.bits() % 3 === 0 });
      run(pair, seedFirst * 8200 + i, { collectives: i % 2 === 0 ? 0 : 30 });
      pair.count();
      taken += pair.sent + pair.received + pair.completed;
      looks += pair.planed.looks;
    }
    assert.ok(taken > 1_000 && looks > taken / 70, `${looks} looks in ${taken} calls`);
  });

  test("ADR 82: what goes to other nodes and comes from there is the engine's", () => {
    let [sent, received] = [0, 0];
    for (let i = 0; i < 2 * programs; i++) {
      const pair = new Pair({ ranks: 3 + (i % 2), ...ample, sockets: () => false, elsewhere: i % 3 });
      run(pair, seedFirst * 8300 + i, { imagesEvery: i % 4 === 3 ? 41 : 0, killAt: i % 4 === 2 ? 40 + 5 * i : -1 });
      pair.count();
      sent += pair.sent;
      received += pair.received;
    }
    assert.ok(sent > 0 && received > 0, `${sent} sent, ${received} received`);
  });

  test("ADR 82: a message from another node that waits keeps no plane from receiving from its own", () => {
    const pair = new Pair({ ranks: 3, ...ample, sockets: () => false, elsewhere: 2 });
    for (let rank = 0; rank < 3; rank++) pair.call(rank, { name: "MPI_Init", args: [0, 0] });
    const message = (name: string, peer: number, tag = 0): Step => ({
      name,
      args: [4096, 1, 0x214, peer, tag, COMM_WORLD, ...(name === "MPI_Recv" ? [0] : [])],
    });
    const receivedByPlane = (): number => pair.planed.ranks[0]!.process.pass.received;
    /** Of ten messages that rank 0 gets from rank 1 while one of that rank waits. */
    const takenBehind = (from: number): number => {
      assert.equal(pair.call(from, message("MPI_Send", 0, 7)), 0);
      assert.equal(pair.call(0, { name: "MPI_Iprobe", args: [from, 7, COMM_WORLD, 2048, 0] }), 0);
      const before = receivedByPlane();
      for (let i = 0; i < 10; i++) {
        for (const [rank, name] of [
          [0, "MPI_Send"],
          [1, "MPI_Recv"],
          [1, "MPI_Send"],
          [0, "MPI_Recv"],
        ] as const) {
          assert.equal(pair.call(rank, message(name, 1 - rank)), 0);
        }
      }
      return receivedByPlane() - before;
    };
    // The first is the engine's, whose pass the message has closed.
    assert.equal(takenBehind(2), 9);
    // One of its own node might be wanted.
    assert.equal(takenBehind(1), 0);
  });

  test("a rank dies in between", () => {
    for (let i = 0; i < 2 * fewPrograms; i++) {
      const pair = new Pair({ ranks: 3, planeWaits: i % 2 === 1 ? "receives" : "none" });
      run(pair, seedFirst * 3000 + (i >> 1), { killAt: 40 + 5 * (i >> 1) });
    }
  });

  test("a tracer comes in between, and is told everything", () => {
    let told = 0;
    for (let i = 0; i < fewPrograms; i++) {
      const pair = new Pair({ ranks: 2 });
      run(pair, seedFirst * 4000 + i, { traceAt: 10 + 5 * i });
      told += pair.told;
    }
    assert.ok(told > 100, "tracers were told something");
  });
});

describe("ADR 75: a data plane under message logging does what the engine does, and records what it would", () => {
  for (const ranks of [1, 2, 3, 4]) {
    test(`random programs of ${ranks} ranks, step by step; images are exchanged between the two ways`, () => {
      let [done, sent, received, completed] = [0, 0, 0, 0];
      const recorded = { planed: 0, plain: 0, spared: 0 };
      for (let i = 0; i < programs; i++) {
        const room = i % 3 === 0 ? {} : { ...ample, looksAhead: i % 3 === 1 ? 1 : ample.slots >> 1 };
        const pair = new Pair({ ranks, isLogged: true, firstPosition: i % 2 === 0 ? 0 : -40, ...room });
        const imagesEvery = i % 4 === 3 ? 37 : 0;
        done += run(pair, seedFirst * 7500 + 100 * ranks + i, { imagesEvery, collectives: i % 2 === 0 ? 20 : 0 });
        pair.count();
        sent += pair.sent;
        received += pair.received;
        completed += pair.completed;
        for (const kind of ["planed", "plain", "spared"] as const) recorded[kind] += pair.recorded[kind];
      }
      const counts = `${done} steps, ${sent} sent, ${received} received, ${completed} met; ${JSON.stringify(recorded)}`;
      assert.ok(sent > done / 12 && received > done / 25 && completed > 0, counts);
      assert.ok(recorded.planed > 0 && (ranks <= 2 || recorded.spared === 0), counts);
    });
  }

  for (const planeWaits of ["none", "receives"] as const) {
    const whose = planeWaits === "receives" ? " of planes that wait themselves" : "";
    test(`ADR 86: requests${whose}: their numbers, their handles, and what is recorded of them`, () => {
      let [adopted, received, done] = [0, 0, 0];
      for (let i = 0; i < 4 * fewPrograms; i++) {
        const looksAhead = i % 5 === 0 ? 1 : ample.slots >> 1;
        const room = { ...ample, eagerBytes: allEagerBytes, looksAhead, firstPosition: i % 2 === 0 ? 0 : -40 };
        const pair = new Pair({ ranks: 1 + (i % 4), planeWaits, beginsRequests: true, isLogged: true, ...room });
        const imagesEvery = i % 4 === 3 ? 41 : 0;
        done += run(pair, seedFirst * 8600 + i, { imagesEvery, collectives: i % 3 === 0 ? 10 : 0 });
        pair.count();
        assert.ok(
          pair.ranks <= 2 || pair.recorded.spared === 0,
          "which message a receive from any source took is recorded",
        );
        adopted += pair.adopted;
        received += pair.received;
      }
      assert.ok(adopted > done / 50 && received > done / 20, `${done} steps: ${adopted} adopted, ${received} received`);
    });
  }

  test("ADR 86: a receive that has its message when it is cancelled is recorded by the number that its plane gave it", () => {
    const pair = new Pair({ ranks: 2, isLogged: true, beginsRequests: true });
    for (let rank = 0; rank < 2; rank++) pair.call(rank, { name: "MPI_Init", args: [0, 0] });
    const requestOf = (tag: number): number => 1536 + 4 * tag;
    const call = (rank: number, name: string, ...args: Step["args"]): void => {
      assert.equal(pair.call(rank, { name, args }), 0, name);
    };
    for (const tag of [0, 1, 2]) call(0, "MPI_Irecv", 4096 + 64 * tag, 1, 0x214, 1, tag, COMM_WORLD, requestOf(tag));
    for (const tag of [1, 2]) call(1, "MPI_Send", 4096, 1, 0x214, 0, tag, COMM_WORLD);
    call(0, "MPI_Wait", requestOf(2), 0);
    assert.equal(pair.planed.ranks[0]!.plane!.light!.count, 2, "one waits, one has its message");
    for (const tag of [0, 1]) call(0, "MPI_Cancel", requestOf(tag));
    for (const tag of [0, 1]) call(0, "MPI_Wait", requestOf(tag), 0);
    const { CAME, CANCELLED } = DeterminantKind;
    assert.deepEqual(
      pair.alike("the stream", ({ stream }) => stream.words),
      [4, 0, CANCELLED, 1, 4, 0, CAME, 2],
    );
    pair.compareMemories();
    pair.compareDeterminants();
  });

  test("ADR 82: the same beside sockets, with a rank that is elsewhere", () => {
    let [sent, received] = [0, 0];
    for (let i = 0; i < 2 * programs; i++) {
      const random = new SeededRandom(i);
      const sockets = (): boolean => random.bits() % 4 === 0;
      const pair = new Pair({ ranks: 3 + (i % 2), isLogged: true, ...ample, sockets, elsewhere: i % 3 });
      run(pair, seedFirst * 8400 + i, { imagesEvery: i % 4 === 3 ? 37 : 0 });
      pair.count();
      sent += pair.sent;
      received += pair.received;
    }
    assert.ok(sent > 100 && received > 50, `${sent} sent, ${received} received`);
  });

  for (const isLogged of [false, true]) {
    const whose = isLogged ? " under message logging" : "";
    test(`ADR 86: requests beside sockets${whose}, of which some go elsewhere`, () => {
      let [adopted, received, done] = [0, 0, 0];
      for (let i = 0; i < 6 * fewPrograms; i++) {
        const random = new SeededRandom(i);
        const sockets = (): boolean => random.bits() % 4 === 0;
        const planeWaits = i % 2 === 0 ? "none" : "receives";
        const room = { ...ample, eagerBytes: allEagerBytes, planeWaits, beginsRequests: true, isLogged } as const;
        const pair = new Pair({ ranks: 3 + (i % 2), ...room, sockets, elsewhere: (i % 4) - 1 });
        const killAt = !isLogged && i % 6 === 2 ? 40 + 5 * i : -1;
        done += run(pair, seedFirst * 8700 + i, { imagesEvery: i % 3 === 1 ? 41 : 0, killAt });
        pair.count();
        adopted += pair.adopted;
        received += pair.received;
      }
      assert.ok(
        adopted > done / 200 && received > done / 50,
        `${done} steps: ${adopted} adopted, ${received} received`,
      );
    });
  }

  test("a receive from any source in a communicator of two is no choice, until its process sends to itself", () => {
    const pair = new Pair({ ranks: 2, isLogged: true });
    for (let rank = 0; rank < 2; rank++) pair.call(rank, { name: "MPI_Init", args: [0, 0] });
    const message = (name: string, peer: number): Step => ({
      name,
      args: [4096, 1, 0x214, peer, 0, COMM_WORLD, ...(name === "MPI_Recv" ? [0] : [])],
    });
    const exchange = (from: number, to: number): void => {
      assert.equal(pair.call(from, message("MPI_Send", to)), 0);
      assert.equal(pair.call(to, message("MPI_Recv", -1)), 0);
    };
    for (let i = 0; i < 6; i++) exchange(1, 0);
    const entries = (): number[] => pair.worlds.map(({ stream }) => stream.words.length / 6);
    assert.deepEqual(entries(), [0, 6]);
    exchange(0, 0);
    for (let i = 0; i < 5; i++) exchange(1, 0);
    assert.deepEqual(entries(), [6, 12]);
    pair.compareDeterminants();
    pair.count();
    assert.deepEqual([pair.received, pair.recorded.spared], [12, 6]);
  });

  test("a run of answers that is open closes the pass: the next message closes the run first", () => {
    const pair = new Pair({ ranks: 2, isLogged: true });
    for (let rank = 0; rank < 2; rank++) pair.call(rank, { name: "MPI_Init", args: [0, 0] });
    const send: Step = { name: "MPI_Send", args: [4096, 1, 0x214, 1, 0, COMM_WORLD] };
    const probe: Step = { name: "MPI_Iprobe", args: [1, 0, COMM_WORLD, 2048, 0] };
    for (const step of [send, send, probe, probe, send]) assert.equal(pair.call(0, step), 0);
    const { NOTHING } = DeterminantKind;
    assert.deepEqual(
      pair.alike("the stream", ({ stream }) => stream.words),
      [4, 0, NOTHING, 2],
    );
  });
});

describe("ADR 25: collectives in the data plane are those of the engine", () => {
  const options = (ranks: number, i: number): Omit<PlaneWorldOptions, "hasPlane"> => ({
    ranks,
    firstPosition: i % 2 === 0 ? 0 : -40,
    boardBytes: [128, 256, 1024][i % 3]!,
    longBytes: [1024, 512, 4096][i % 3]!,
    longBoards: [3, 1, 3, 0][i % 4]!,
    // Two in three lend, from little on or what is too long for the board.
    lentBytesMin: [64, 0x7fffffff, 768][i % 3]!,
  });

  for (const ranks of [1, 2, 3, 5, 8]) {
    test(`random programs of ${ranks} ranks, step by step`, () => {
      let [done, completed, left] = [0, 0, 0];
      for (let i = 0; i < fewPrograms; i++) {
        const pair = new Pair(options(ranks, i));
        done += run(pair, seedFirst * 5000 + 100 * ranks + i, { collectives: 40 });
        pair.count();
        completed += pair.completed;
        left += pair.left;
      }
      assert.ok(done > fewPrograms * stepsPerProgram, "most programs get far");
      assert.ok(
        completed > done / 50 && (left > 0 || ranks === 1),
        `planes took part: ${completed} of ${done}, ${left} left`,
      );
    });
  }

  // Collectives alone: a rank that finds its gate open has read no messages, which the engine would have.
  test("ranks wait at gates without their engines, and images are exchanged in between", () => {
    let [completed, left] = [0, 0];
    for (let i = 0; i < fewPrograms; i++) {
      const pair = new Pair({ ...options(2 + (i % 4), i), ...ample, planeWaits: "collectives" });
      run(pair, seedFirst * 9000 + i, { collectives: 100, imagesEvery: i % 3 === 0 ? 47 : 0 });
      pair.count();
      completed += pair.completed;
      left += pair.left;
    }
    assert.ok(completed > 2 * left && left > 0, `${completed} completed, ${left} left to the engine`);
  });

  test("ranks disagree, refuse arguments and ask each other", () => {
    let completed = 0;
    for (let i = 0; i < fewPrograms; i++) {
      const pair = new Pair(options(2 + (i % 3), i));
      run(pair, seedFirst * 6000 + i, { collectives: 40, mayDiffer: true });
      pair.count();
      completed += pair.completed;
    }
    assert.ok(completed > 0);
  });

  test("ADR 42: packets that were taken from behind others send nobody to its engine", () => {
    const pair = new Pair({ ...options(4, 0), ...ample, looksAhead: 8, planeWaits: "all" });
    for (let rank = 0; rank < 4; rank++) pair.call(rank, { name: "MPI_Init", args: [0, 0] });
    const message = (name: string, peer: number): Step => ({
      name,
      args: [4096, 1, 0x214, peer, 0, COMM_WORLD, ...(name === "MPI_Recv" ? [0] : [])],
    });
    for (const from of [1, 2, 3]) assert.equal(pair.call(from, message("MPI_Send", 0)), 0);
    // The first of the ring is taken last, and the two behind it are void.
    for (const from of [3, 2, 1]) assert.equal(pair.call(0, message("MPI_Recv", from)), 0);
    const barrier: Step = { name: "MPI_Barrier", args: [COMM_WORLD] };
    for (const rank of [0, 1, 2]) assert.equal(pair.call(rank, barrier), WAITS);
    assert.equal(
      pair.alike("waits on", ({ ranks }) => ranks[0]!.goOn()),
      WAITS,
    );
    assert.equal(pair.call(3, barrier), 0);
    for (const rank of [0, 1, 2])
      assert.equal(
        pair.alike("goes on", ({ ranks }) => ranks[rank]!.goOn()),
        0,
      );
    pair.count();
    assert.deepEqual([pair.completed, pair.left], [4, 0]);
  });

  test("ADR 42: the root of a scatter has room for more than its block, or for less", () => {
    const MPI_INT = 0x209;
    for (const [room, code] of [
      [3, 15],
      [4, 0],
      [5, 0],
    ] as const) {
      const pair = new Pair({ ...options(2, 0), planeWaits: "collectives" });
      for (const world of pair.worlds) {
        for (const { ints } of world.ranks) for (let i = 0; i < 16; i++) ints[(4096 >> 2) + i] = 100 + i;
      }
      for (let rank = 0; rank < 2; rank++) {
        pair.call(rank, { name: "MPI_Init", args: [0, 0] });
        pair.call(rank, { name: "MPI_Comm_set_errhandler", args: [COMM_WORLD, ERRORS_RETURN] });
      }
      const scatter = (count: number): Step => ({
        name: "MPI_Scatter",
        args: [4096, 4, MPI_INT, 8192, count, MPI_INT, 0, COMM_WORLD],
      });
      assert.equal(pair.call(1, scatter(4)), WAITS);
      assert.equal(pair.call(0, scatter(room)), code);
      assert.equal(
        pair.alike("goes on", ({ ranks }) => ranks[1]!.goOn()),
        0,
      );
      pair.compareMemories();
      const { ints } = pair.planed.ranks[1]!;
      assert.deepEqual([...ints.subarray(8192 >> 2, (8192 >> 2) + 4)], [104, 105, 106, 107]);
      pair.count();
      assert.equal(pair.completed, room === 4 ? 2 : 1, "what is in order is the planes'");
    }
  });

  test("images that are taken in between, also at shut gates, are exchanged between the two ways", () => {
    let completed = 0;
    for (let i = 0; i < fewPrograms; i++) {
      const pair = new Pair(options(2 + (i % 2), i));
      run(pair, seedFirst * 7000 + i, { collectives: 50, imagesEvery: 43 });
      pair.count();
      completed += pair.completed;
    }
    assert.ok(completed > 0);
  });

  test("a rank dies in between", () => {
    for (let i = 0; i < fewPrograms; i++) {
      run(new Pair(options(3, i)), seedFirst * 8000 + i, { collectives: 50, killAt: 20 + 5 * i });
    }
  });
});
