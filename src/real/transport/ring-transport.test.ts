/**
 * RingTransport in earnest: the conformance suite with a thread for each rank (and in one thread, with rings of four slots
 * whose positions wrap), then threads that are really terminated while they send, many times, with the others going on.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { tries } from "../../../test/long.ts";
import { timeLimit } from "../../../test/patience.ts";
import type { Identity } from "../../core/base/identity.ts";
import { Engine } from "../../core/p2p/engine.ts";
import { engineCases } from "../../core/p2p/testing/engine-conformance.ts";
import { SendMode } from "../../core/request/records.ts";
import { BYTES, KIND, PAYLOAD, PacketKind, SEQUENCE, SOURCE } from "../../core/wire/packet.ts";
import { type ConformanceEnd, transportCases } from "../../core/wire/testing/transport-conformance.ts";
import { Waiting } from "../process/waiting.ts";
import { layoutOf, type MemoryLayout } from "./layout.ts";
import { LivingProcesses } from "./living-processes.ts";
import { enterNodeMemory, newNodeMemory } from "./node-memory.ts";
import type { ProcessBuffers } from "./process-buffers.ts";
import { RankMemory } from "./rank-memory.ts";
import { RingTransport } from "./ring-transport.ts";

interface Task {
  readonly memory: WebAssembly.Memory;
  readonly layout: MemoryLayout;
  readonly rank: number;
  /** Name of a conformance case, or of a program below. */
  readonly program: string;
  /** A word of its own: 1 says that the kills are over. */
  readonly stop: Int32Array;
}

const cases = [...transportCases, ...engineCases];

function endOf(memory: WebAssembly.Memory, layout: MemoryLayout, rank: number, identity?: Identity) {
  const node = enterNodeMemory(memory, layout, rank);
  const rankMemory = new RankMemory(node);
  const places = Int32Array.from({ length: layout.processes }, (_, i) => i);
  const speaks = identity === undefined ? {} : { identity };
  const transport = new RingTransport(node, rankMemory, { rank, ...speaks, places, jointBytesMin: 100_000 });
  const end: ConformanceEnd = {
    rank,
    transport,
    memory: rankMemory,
    expect: () => {},
    check: (claim, what) => assert.ok(claim, what),
  };
  return { node, end, transport, memory: rankMemory };
}

const small = { memoryBytes: 64 << 20, boards: 1 };
const timeoutMs = 60_000;

interface Report {
  readonly count: number;
  /** Packets by source. */
  readonly received: readonly number[];
}

/** A node of threads, one for each rank. */
class World {
  readonly #layout: MemoryLayout;
  readonly #memory: WebAssembly.Memory;
  readonly #workers = new Set<Worker>();
  readonly population: LivingProcesses;
  readonly stop = new Int32Array(new SharedArrayBuffer(4));

  constructor(options: Parameters<typeof layoutOf>[0]) {
    this.#layout = layoutOf(options);
    this.#memory = newNodeMemory(this.#layout);
    this.population = new LivingProcesses(enterNodeMemory(this.#memory, this.#layout, -1));
    for (let rank = 0; rank < this.#layout.processes; rank++) this.population.born(rank, 0);
  }

  start(rank: number, program: string, incarnation = 0): Worker {
    if (incarnation > 0) this.population.born(rank, incarnation);
    const task: Task = { memory: this.#memory, layout: this.#layout, rank, program, stop: this.stop };
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: task });
    this.#workers.add(worker);
    worker.on("error", () => {});
    worker.once("exit", () => this.#workers.delete(worker));
    return worker;
  }

  /** What the thread's program returned. */
  async done(worker: Worker): Promise<unknown> {
    const [message] = (await once(worker, "message")) as [{ error?: string; result?: unknown }];
    if (message.error !== undefined) throw new Error(message.error);
    return message.result;
  }

  async end(): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.terminate()));
  }
}

/** A worker: runs its program, reports, and stays until it is terminated. */
async function work({ memory, layout, rank, program, stop }: Task): Promise<void> {
  parentPort!.on("message", () => {});
  try {
    const found = cases.find(({ name }) => name === program);
    const { node, end, transport } = endOf(memory, layout, rank, found?.identities?.[rank]);
    const waiting = new Waiting(node, transport, { crowded: true });
    let result: unknown;
    if (found !== undefined) {
      const role = found.role(end);
      // Whatever a role did before it yields again counts as progress only when it moved: so waiting is not reset here.
      while (role.next().done !== true) waiting.idle();
      waiting.reset();
    } else
      result = program === "sink" ? sink(transport, waiting) : chatter(rank, program, { transport, waiting, stop });
    parentPort!.postMessage({ result });
  } catch (error) {
    parentPort!.postMessage({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

const bytesOf = (number: number) => (number * 37) % 700;
const fillOf = (source: number, number: number) => (source * 50 + number) & 0xff;
const LAST = 1 << 16;

/** Takes one packet if there is one and checks that it is whole. Returns its source, or −1. */
function takeOne(transport: RingTransport, memoryBytes: Uint8Array, last: Int32Array): number {
  const packet = transport.peek();
  if (packet < 0) return -1;
  const words = transport.words;
  const source = words[packet + SOURCE]!;
  const number = words[packet + SEQUENCE]!;
  const bytes = words[packet + BYTES]!;
  assert.equal(words[packet + KIND]! & 0xff, PacketKind.EAGER);
  // A new life counts from 0 again.
  assert.ok(
    number === last[source]! + 1 || (source === 3 && number === 0),
    `packet ${number} of ${source} after ${last[source]}`,
  );
  last[source] = number;
  assert.equal(bytes, bytesOf(number));
  const [from, fill] = [words[packet + PAYLOAD]!, fillOf(source, number)];
  for (let at = from; at < from + bytes; at++) {
    if (memoryBytes[at] !== fill) assert.fail(`packet ${number} of ${source} is torn`);
  }
  return source;
}

/** Receives from everybody until ranks 1 and 2 have sent their last packet. */
function sink(transport: RingTransport, waiting: Waiting): Report {
  const bytes = new Uint8Array(transport.words.buffer);
  const last = new Int32Array(4).fill(-1);
  const received = [0, 0, 0, 0];
  for (let left = 2; left > 0; ) {
    const source = takeOne(transport, bytes, last);
    if (source < 0) {
      waiting.idle();
      continue;
    }
    if ((transport.words[transport.peek() + KIND]! & LAST) !== 0) left--;
    transport.release();
    waiting.reset();
    received[source]!++;
  }
  return { count: 0, received };
}

interface Means {
  readonly transport: RingTransport;
  readonly waiting: Waiting;
  readonly stop: Int32Array;
}

/** Sends to rank 0 without end (the victim) or until told to stop (ranks 1 and 2), and keeps its own ring moving. */
function chatter(rank: number, program: string, { transport, waiting, stop }: Means): Report {
  const bytes = new Uint8Array(transport.words.buffer);
  for (let number = 0; ; ) {
    const isLast = program === "steady" && Atomics.load(stop, 0) === 1;
    if (trySend(transport, bytes, { rank, to: 0, number, isLast })) {
      waiting.reset();
      number++;
      if (program === "victim" && number === 50) parentPort!.postMessage("well under way");
      if (isLast) return { count: number, received: [] };
      // Something for the victim as well: its ring lives on from life to life, and is often full.
      if (rank === 1) trySend(transport, bytes, { rank, to: 3, number, isLast: false });
    } else waiting.idle();
    if (transport.peek() >= 0) transport.release();
  }
}

function trySend(
  transport: RingTransport,
  memoryBytes: Uint8Array,
  { rank, to, number, isLast }: { rank: number; to: number; number: number; isLast: boolean },
): boolean {
  const bytes = bytesOf(number);
  const packet = transport.reserve(to, bytes);
  if (packet < 0) return false;
  const words = transport.words;
  words[packet + KIND] = PacketKind.EAGER | (isLast ? LAST : 0);
  words[packet + BYTES] = bytes;
  words[packet + SEQUENCE] = number;
  const { payload } = transport;
  // Loops are where V8 looks whether the thread is to end; the victim dawdles, so that most kills find a slot reserved.
  for (let times = rank === 3 ? 50 : 1; times > 0; times--) {
    for (let at = 0; at < bytes; at++) memoryBytes[payload + at] = fillOf(rank, number);
  }
  transport.commit(to);
  return true;
}

if (isMainThread) {
  for (const { name, ranks, identities, role, dies } of cases) {
    test(`in threads: ${name}`, timeLimit(timeoutMs), async () => {
      const world = new World({ processes: ranks, ...small });
      await Promise.all(
        Array.from({ length: ranks }, async (_, rank) => {
          const worker = world.start(rank, name);
          await world.done(worker);
          if (dies?.includes(rank) !== true) return;
          await worker.terminate();
          world.population.died(rank);
        }),
      );
      await world.end();
    });

    test(`in one thread, four slots, positions wrap: ${name}`, timeLimit(timeoutMs), () => {
      const layout = layoutOf({ processes: ranks, slots: 4, ...small });
      const memory = newNodeMemory(layout, -50);
      const population = new LivingProcesses(enterNodeMemory(memory, layout, -1));
      for (let rank = 0; rank < ranks; rank++) population.born(rank, 0);
      let running = Array.from({ length: ranks }, (_, rank) => ({
        rank,
        turns: role(endOf(memory, layout, rank, identities?.[rank]).end),
      }));
      while (running.length > 0) {
        running = running.filter(({ rank, turns }) => {
          if (turns.next().done !== true) return true;
          if (dies?.includes(rank) === true) population.died(rank);
          return false;
        });
      }
    });
  }

  test("a copy from a process that has died meanwhile does not count; from its next life it does", () => {
    const layout = layoutOf({ processes: 2, ...small });
    const memory = newNodeMemory(layout);
    const population = new LivingProcesses(enterNodeMemory(memory, layout, -1));
    for (const rank of [0, 1]) population.born(rank, 0);
    const [a, b] = [endOf(memory, layout, 0), endOf(memory, layout, 1)];
    for (const bytes of [20_000, 500_000]) {
      const [from, to] = [b.memory.allocate(bytes), a.memory.allocate(bytes)];
      assert.equal(a.transport.fetch(1, 8, 9, to, from, bytes), true);
    }
    population.died(1);
    for (const bytes of [20_000, 500_000]) {
      const [from, to] = [b.memory.allocate(bytes), a.memory.allocate(bytes)];
      assert.equal(a.transport.fetch(1, 8, 9, to, from, bytes), false);
      assert.equal(a.transport.fetched(8), false);
      a.transport.unfetch(8);
    }
    population.born(1, 1);
    const [from, to] = [b.memory.allocate(20_000), a.memory.allocate(20_000)];
    assert.equal(a.transport.fetch(1, 8, 9, to, from, 20_000), false, "the new life has not been announced to us yet");
    a.transport.peerReturned(1, 1);
    assert.equal(a.transport.fetch(1, 8, 9, to, from, 20_000), true);
  });

  test("a rank that comes from another node shares its memory with nobody: both sides say so, whenever they hear of it", () => {
    const layout = layoutOf({ processes: 2, ...small });
    const memory = newNodeMemory(layout);
    const population = new LivingProcesses(enterNodeMemory(memory, layout, -1));
    const ofProgram = (rank: number): RingTransport => {
      const node = enterNodeMemory(memory, layout, rank);
      const rankMemory = new RankMemory(node);
      const buffers = Object.create(rankMemory, { areInNode: { value: false } }) as RankMemory;
      return new RingTransport(node, rankMemory, { rank, places: Int32Array.of(0, 1), buffers });
    };
    population.born(0, 0);
    const neighbour = ofProgram(0);
    population.adopted(1);
    // Those that are there hear of it before it begins.
    neighbour.peerReturned(1, 1);
    assert.equal(neighbour.shares(1), false);
    population.born(1, 1);
    assert.equal(ofProgram(1).shares(0), false);
  });

  test("a new life passes over the packets of the old one, whole or voided", () => {
    const layout = layoutOf({ processes: 2, slots: 4, ...small });
    const memory = newNodeMemory(layout);
    const population = new LivingProcesses(enterNodeMemory(memory, layout, -1));
    for (const rank of [0, 1]) population.born(rank, 0);
    const [a, b] = [endOf(memory, layout, 0), endOf(memory, layout, 1)];
    const post = (number: number) => trySend(a.transport, a.node.bytes, { rank: 0, to: 1, number, isLast: false });
    for (const number of [0, 1, 2]) assert.ok(post(number));
    b.transport.peek();
    b.transport.release();
    population.died(1);
    population.born(1, 1);
    const second = endOf(memory, layout, 1).transport;
    assert.equal(second.peek(), -1);
    assert.ok(post(3));
    assert.equal(second.words[second.peek() + SEQUENCE], 3);
  });

  test("a neighbour dies with a share of a joint copy and returns: the copy never counts, and its place is used again", () => {
    const layout = layoutOf({ processes: 2, ...small });
    const memory = newNodeMemory(layout);
    const population = new LivingProcesses(enterNodeMemory(memory, layout, -1));
    for (const rank of [0, 1]) population.born(rank, 0);
    const [bytes, chunk] = [500_000, 64 * 1024];
    // What the neighbour does after it was asked to help and before we begin.
    let meanwhile: (work: number, generation: number) => void = () => {};
    const plain = enterNodeMemory(memory, layout, 0);
    const copyJointly: typeof plain.calls.copyJointly = (work, generation, ...rest) => {
      meanwhile(work, generation);
      plain.calls.copyJointly(work, generation, ...rest);
    };
    const node = { ...plain, calls: { ...plain.calls, copyJointly } };
    const ownMemory = new RankMemory(node);
    const places = Int32Array.from([0, 1]);
    const a = new RingTransport(node, ownMemory, { rank: 0, places, jointBytesMin: 100_000, jointChunkBytes: chunk });
    const to = ownMemory.allocate(bytes);
    for (let life = 0; life < 30; life++) {
      const b = endOf(memory, layout, 1);
      const from = b.memory.allocate(bytes);
      b.memory.view(from, bytes).fill(life + 1);
      const fetch = () => a.fetch(1, 8, 9, to, from, bytes);
      meanwhile = () => {};
      assert.equal(fetch(), true);
      assert.ok(ownMemory.view(to, bytes).every((byte) => byte === life + 1));
      assert.ok(b.transport.peek() >= 0, "it was asked to help");
      // It takes a chunk, and dies with it or just after it.
      const isDone = life % 2 === 1;
      let finish = () => {};
      meanwhile = (work, generation) => {
        const offset = b.node.calls.claimJointly(work, generation, bytes, chunk);
        assert.ok(offset >= 0);
        finish = () => b.node.calls.doneJointly(work, chunk);
      };
      assert.equal(fetch(), false);
      if (isDone) finish();
      population.died(1);
      assert.equal(a.fetched(8), false);
      population.born(1, life + 1);
      assert.equal(a.fetched(8), false, "another life than ours");
      a.peerReturned(1, life + 1);
      assert.equal(a.fetched(8), false, "and the new one has nothing to do with it");
      a.unfetch(8);
    }
  });

  test("programs with memories of their own: a new life shares with nobody, and messages go in pieces both ways", () => {
    const layout = layoutOf({ processes: 3, ...small });
    const memory = newNodeMemory(layout);
    const population = new LivingProcesses(enterNodeMemory(memory, layout, -1));
    for (const rank of [0, 1, 2]) population.born(rank, 0);
    const bytes = 300_000;
    const engineOf = (rank: number) => {
      const node = enterNodeMemory(memory, layout, rank);
      const own = new RankMemory(node);
      const reached: number[] = [];
      const buffers: ProcessBuffers = {
        areInNode: false,
        toPayload: (...copy) => own.toPayload(...copy),
        fetchFrom: (process, ...copy) => {
          reached.push(process);
          own.fetchFrom(process, ...copy);
        },
        putTo: (process, ...copy) => {
          reached.push(process);
          own.putTo(process, ...copy);
        },
      };
      const transport = new RingTransport(node, own, { rank, places: Int32Array.from([0, 1, 2]), buffers });
      return { own, reached, transport, engine: new Engine({ rank, ranks: 3, transport, memory: own }) };
    };
    type End = ReturnType<typeof engineOf>;
    const pass = ([from, source]: [End, number], [to, dest]: [End, number]) => {
      const [sent, got] = [from.own.allocate(bytes), to.own.allocate(bytes)];
      from.own.view(sent, bytes).forEach((_, i, view) => {
        view[i] = (i * 7 + source) & 0xff;
      });
      const send = from.engine.startSend(sent, bytes, dest, 5, 0, SendMode.STANDARD);
      const receive = to.engine.startReceive(got, bytes, source, 5, 0);
      for (let turn = 0; turn < 10_000 && !(from.engine.isComplete(send) && to.engine.isComplete(receive)); turn++) {
        from.engine.progress();
        to.engine.progress();
      }
      assert.ok(from.engine.isComplete(send) && to.engine.isComplete(receive));
      assert.ok(Buffer.from(from.own.view(sent, bytes)).equals(to.own.view(got, bytes)));
    };
    const [a, b, c] = [engineOf(0), engineOf(1), engineOf(2)];
    pass([a, 0], [c, 2]);
    assert.ok(a.transport.shares(1) && b.transport.shares(0));
    population.died(1);
    population.born(1, 4);
    for (const end of [a, c]) end.transport.peerReturned(1, 4);
    const next = engineOf(1);
    assert.deepEqual(
      [a, next, c].map(({ transport }) => [0, 1, 2].map((peer) => transport.shares(peer))),
      [
        [true, false, true],
        [false, true, false],
        [true, false, true],
      ],
    );
    pass([a, 0], [next, 1]);
    pass([next, 1], [c, 2]);
    assert.deepEqual(next.reached, []);
    for (const end of [a, c]) assert.ok(!end.reached.includes(1));
    pass([c, 2], [a, 0]);
    assert.ok([...a.reached, ...c.reached].length > 1, "the others copy once, as before");
  });

  test("a neighbour's stages are free again when the receiver of their pieces has come back as another", () => {
    const layout = layoutOf({ processes: 2, ...small });
    const memory = newNodeMemory(layout);
    const population = new LivingProcesses(enterNodeMemory(memory, layout, -1));
    for (const rank of [0, 1]) population.born(rank, 0);
    const a = endOf(memory, layout, 0);
    const bytes = 1 << 20;
    const from = a.memory.lend(new Uint8Array(bytes).fill(7));
    for (let life = 1; life <= 20; life++) {
      let offset = 0;
      for (let took = 1; took > 0; offset += took) took = a.transport.push(1, 3, from, offset, bytes - offset);
      assert.ok(offset > 0 && offset < bytes, "all stages are under way");
      population.died(1);
      population.born(1, life);
      a.transport.peerReturned(1, life);
      const next = endOf(memory, layout, 1).transport;
      assert.equal(next.peek(), -1, "not for this life");
      assert.ok(a.transport.push(1, 3, from, 0, 100_000) > 0);
      const packet = next.peek();
      assert.equal(next.words[packet + KIND]! & 0xff, PacketKind.FRAGMENT);
      next.release();
      assert.equal(next.peek(), -1);
    }
  });

  test("a thread is terminated while it sends, many times; the others go on", timeLimit(timeoutMs), async (t) => {
    const world = new World({ processes: 4, ...small });
    const reports = Promise.all(
      ["sink", "steady", "steady"].map((program, rank) => world.done(world.start(rank, program))),
    );
    const kills = tries(12, 60);
    let life = 0;
    // Where a kill lands is chance: more of them if none has landed there.
    for (; life < kills || (world.population.voids === 0 && life < 10 * kills); life++) {
      const victim = world.start(3, "victim", life);
      await once(victim, "message");
      await pause(life % 5);
      await victim.terminate();
      world.population.died(3);
      while (!world.population.settle()) await pause(1);
    }
    Atomics.store(world.stop, 0, 1);
    const [{ received }, ...sent] = (await reports) as [Report, ...Report[]];
    await world.end();
    for (const [i, { count }] of sent.entries())
      assert.equal(received[i + 1], count, `all packets of rank ${i + 1} arrived`);
    t.diagnostic(`${world.population.voids} of ${life} kills left a slot reserved; received ${received.join(", ")}`);
    assert.ok(received[3]! > 0, "the victim's packets arrived too");
    assert.ok(world.population.voids > 0, "some kills landed between reserve and commit");
  });
} else void work(workerData as Task);
