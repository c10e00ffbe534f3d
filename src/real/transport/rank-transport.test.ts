/**
 * Ranks as threads on two nodes (two memories, two hosts in this process): rings inside, TCP between, one engine each. The
 * threads wait as ranks do, asleep on the bell or in `poll`.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { filledBytes } from "../../../test/filled-bytes.ts";
import { afterQuiet, quietNow } from "../../../test/patience.ts";
import type { Pointer, RecordId } from "../../core/base/brand.ts";
import { Engine } from "../../core/p2p/engine.ts";
import { SendMode } from "../../core/request/records.ts";
import { type Placement, placementOf } from "../../core/service/placement.ts";
import { Waiting } from "../process/waiting.ts";
import { Bell, layoutOf, lineOf, type MemoryLayout } from "./layout.ts";
import { LivingProcesses } from "./living-processes.ts";
import { enterNodeMemory, newNodeMemory } from "./node-memory.ts";
import { NoticeBoard, NoticeKind, NoticeReader } from "./notices.ts";
import { RankMemory } from "./rank-memory.ts";
import { RankTransport } from "./rank-transport.ts";
import { RingTransport } from "./ring-transport.ts";
import { KoffiCalls } from "./sockets/koffi-calls.ts";
import { scratchBytes } from "./sockets/socket-calls.ts";
import { WasiCalls } from "./sockets/wasi-calls.ts";
import { Handover, type SharedHandover } from "./tcp/handover.ts";
import { linkSizes } from "./tcp/link-sizes.ts";
import { TcpHost } from "./tcp/tcp-host.ts";
import { TcpTransport } from "./tcp/tcp-transport.ts";

type CallsName = "koffi" | "wasi";
type Program = "exchange" | "sleep" | "flood" | "async";
interface Setup {
  readonly program: Program;
  readonly calls: CallsName;
  readonly rank: number;
  readonly placement: Placement;
  readonly memory: WebAssembly.Memory;
  readonly layout: MemoryLayout;
  readonly handover: SharedHandover;
}

const placesOf = (placement: Placement, node: number): Int32Array => {
  let next = 0;
  return Int32Array.from(placement, (other) => (other === node ? next++ : -1));
};

// The ranks' side

class TestRank {
  readonly rank: number;
  readonly ranks: number;
  readonly memory: RankMemory;
  readonly engine: Engine;
  readonly waiting: Waiting;
  readonly transport: RankTransport;
  readonly notices: NoticeReader;

  constructor({ rank, placement, memory: shared, layout, handover: sharedHandover, calls }: Setup) {
    const places = placesOf(placement, placement[rank]!);
    const process = places[rank]!;
    const node = enterNodeMemory(shared, layout, process);
    const memory = new RankMemory(node);
    const handover = new Handover(sharedHandover);
    const ring = new RingTransport(node, memory, { rank, places, wakeElsewhere: (other) => handover.wake(other) });
    const tcp = new TcpTransport({
      rank,
      ranks: placement.length,
      process,
      memory,
      handover: sharedHandover,
      sizesOf: () => linkSizes({ placement, memoryBytes: layout.memoryBytes }),
      tell: (request) => parentPort!.postMessage({ tcp: request }),
      openCalls: () => {
        const options = { memory: shared, scratch: memory.allocate(scratchBytes) };
        return calls === "koffi" ? new KoffiCalls(options) : new WasiCalls(options);
      },
    });
    this.rank = rank;
    this.ranks = placement.length;
    this.memory = memory;
    this.notices = new NoticeReader(node);
    this.transport = new RankTransport(ring, tcp, places);
    this.engine = new Engine({ rank, ranks: placement.length, transport: this.transport, memory });
    this.transport.setLanding(this.engine.transfers);
    this.waiting = new Waiting(node, this.transport, { crowded: true, yields: 20, sleeper: this.transport.sleeper });
  }

  until(isDone: () => boolean): void {
    while (!isDone()) {
      if (this.engine.progress()) this.waiting.reset();
      else {
        this.#listen();
        this.waiting.idle();
      }
    }
    this.waiting.reset();
  }

  #listen(): void {
    if (!this.notices.isNews()) return;
    for (let notice = this.notices.next(); notice !== undefined; notice = this.notices.next()) {
      this.engine.peerFailed({ rank: notice.rank, replica: 0 });
      this.transport.peerFailed(notice.rank);
    }
  }

  finish(): void {
    this.until(() => !this.engine.unsent && this.transport.leave());
  }
}

const sizes = [0, 8, 100, 5000, 20_000, 70_000, 300_001];
const contentOf = (from: number, to: number, tag: number, bytes: number): Uint8Array =>
  filledBytes(bytes, (i) => (i * 3 + (i >> 7) + from * 11 + to * 5 + tag) & 0xff);

/** Everybody sends every size to everybody, all at once; every second buffer is an ordinary array. */
function exchange(rank: TestRank): void {
  const { engine, memory } = rank;
  const requests: { request: number; check?: () => void }[] = [];
  for (let peer = 0; peer < rank.ranks; peer++) {
    for (const [tag, bytes] of sizes.entries()) {
      const buffer = (tag & 1) === 0 ? new Uint8Array(bytes) : memory.view(memory.allocate(bytes), bytes);
      const request = engine.startReceive(memory.lend(buffer), bytes, peer, tag, 0);
      const check = () => assert.ok(Buffer.from(contentOf(peer, rank.rank, tag, bytes)).equals(buffer));
      requests.push({ request, check });
    }
  }
  for (const [tag, bytes] of sizes.entries()) {
    for (let peer = 0; peer < rank.ranks; peer++) {
      const content = contentOf(rank.rank, peer, tag, bytes);
      let pointer: Pointer = memory.lend(content);
      if ((tag & 1) === 0) {
        pointer = memory.allocate(bytes);
        memory.bytes.set(content, pointer);
      }
      requests.push({ request: engine.startSend(pointer, bytes, peer, tag, 0, SendMode.STANDARD) });
    }
  }
  rank.until(() => requests.every(({ request }) => engine.isComplete(request as RecordId)));
  for (const { check } of requests) check?.();
}

/** Rank 0 sends to the last rank every 30 ms, which answers; the others wait for one message that comes at the end. */
function sleep(rank: TestRank): void {
  const { engine, memory } = rank;
  const at = memory.allocate(64);
  const rounds = 10;
  const last = rank.ranks - 1;
  const send = (to: number) => rank.until(() => engine.sendNow(at, 8, to, 0, 0));
  const receive = (from: number) => {
    const request = engine.startReceive(at, 8, from, 0, 0);
    rank.until(() => engine.isComplete(request));
    engine.giveBack(request);
  };
  const nap = new Int32Array(new SharedArrayBuffer(4));
  // A connection for everybody, so that all of them sleep in `poll`.
  exchange(rank);
  const before = process.cpuUsage();
  const start = performance.now();
  if (rank.rank === 0) {
    for (let i = 0; i < rounds; i++) {
      Atomics.wait(nap, 0, 0, 30);
      send(last);
      receive(last);
    }
    for (let other = 1; other < last; other++) send(other);
  } else if (rank.rank === last) {
    for (let i = 0; i < rounds; i++) {
      receive(0);
      send(0);
    }
  } else receive(0);
  const wallMs = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  parentPort!.postMessage({ idle: { wallMs, cpuMs: (user + system) / 1000, parks: rank.waiting.parks } });
}

/** Sends to the last rank of the other node, large and small, without end. */
function flood(rank: TestRank): void {
  const { engine, memory } = rank;
  const bytes = 400_000;
  const at = memory.allocate(bytes);
  const receive = () => {
    const request = engine.startReceive(at, bytes, -1, -2, 0);
    rank.until(() => engine.isComplete(request));
    engine.giveBack(request);
  };
  const last = rank.ranks - 1;
  if (rank.rank === last) {
    for (let count = 1; ; count++) {
      receive();
      if (count % 50 === 0) parentPort!.postMessage({ count });
    }
  }
  for (let i = 0; ; i++) {
    const request = engine.startSend(at, i % 3 === 0 ? bytes : 100, last, i & 0xff, 0, SendMode.STANDARD);
    rank.until(() => engine.isComplete(request));
    engine.giveBack(request);
  }
}

/** As `await`ing ranks do: the event loop runs while the message is under way. */
async function awaiting(rank: TestRank): Promise<void> {
  const { engine, memory } = rank;
  const at = memory.allocate(64);
  const last = rank.ranks - 1;
  if (rank.rank !== 0 && rank.rank !== last) return;
  const peer = rank.rank === 0 ? last : 0;
  const alive = setInterval(() => {}, 1000);
  for (let round = 0; round < 5; round++) {
    if (rank.rank === 0) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      rank.until(() => engine.sendNow(at, 8, peer, 0, 0));
    }
    const request = engine.startReceive(at, 8, peer, 0, 0);
    while (!engine.isComplete(request)) {
      if (engine.progress()) rank.waiting.reset();
      else await rank.waiting.whenSomething();
    }
    if (rank.rank === last) rank.until(() => engine.sendNow(at, 8, peer, 0, 0));
  }
  clearInterval(alive);
}

const programs: Record<Program, (rank: TestRank) => void | Promise<void>> = { exchange, sleep, flood, async: awaiting };

if (!isMainThread) {
  const setup = workerData as Setup;
  const rank = new TestRank(setup);
  void (async () => {
    await programs[setup.program](rank);
    rank.finish();
    parentPort!.postMessage({ done: rank.rank });
    parentPort!.close();
  })();
}

// The nodes' side

interface Message {
  readonly tcp?: Parameters<TcpHost["handle"]>[0];
  readonly done?: number;
  readonly idle?: { wallMs: number; cpuMs: number; parks: number };
  readonly count?: number;
}

async function start(program: Program, placement: Placement, calls: CallsName, heard: (message: Message) => void) {
  const nodes = [...new Set(placement)];
  const job = { id: "threads", secret: new Uint8Array(32).fill(3) };
  const hosts: TcpHost[] = [];
  const workers: Worker[] = [];
  const populations: LivingProcesses[] = [];
  const boards: NoticeBoard[] = [];
  const shared = nodes.map((node) => {
    const ranksHere = [...placement.keys()].filter((rank) => placement[rank] === node);
    const layout = layoutOf({ processes: ranksHere.length, memoryBytes: 128 << 20 });
    const memory = newNodeMemory(layout);
    const main = enterNodeMemory(memory, layout, -1);
    const host: TcpHost = new TcpHost({
      job,
      ranks: placement.length,
      ranksHere,
      ring: (process) => {
        if (main.calls.ring(lineOf(layout, process)) === Bell.PARKED_ELSEWHERE) handover.wake(process);
      },
      report: (event) => assert.fail(JSON.stringify(event)),
    });
    const handover = new Handover(host.handover);
    const population = new LivingProcesses(main, (process) => handover.wake(process));
    hosts.push(host);
    populations.push(population);
    boards.push(new NoticeBoard(main, population));
    for (let process = 0; process < ranksHere.length; process++) population.born(process, 0);
    return { memory, layout, handover: host.handover };
  });
  for (const host of hosts) assert.ok((await host.listen()).ok);
  const book = placement.map((node) => ({ host: "127.0.0.1", port: hosts[node]!.port }));
  for (const host of hosts) host.setAddressBook(book);
  const exits = placement.map((node, rank) => {
    const setup: Setup = { program, calls, rank, placement, ...shared[node]! };
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: setup });
    workers.push(worker);
    worker.on("message", (message: Message) => {
      if (message.tcp !== undefined) hosts[node]!.handle(message.tcp);
      else heard(message);
    });
    return new Promise<number>((resolve, reject) => {
      worker.on("error", reject);
      worker.on("exit", resolve);
    });
  });
  return {
    workers,
    exits,
    /** As the agent does, after the thread's exit. */
    async kill(rank: number) {
      const node = placement[rank]!;
      await workers[rank]!.terminate();
      populations[node]!.died(placesOf(placement, node)[rank]!);
      while (!populations[node]!.settle()) await new Promise((resolve) => setTimeout(resolve, 5));
      hosts[node]!.rankDied(rank);
      // As the dispatcher then tells every node.
      for (const other of nodes) {
        if (other !== node) hosts[other]!.peerFailed(rank);
        boards[other]!.append({ kind: NoticeKind.DIED, rank, incarnation: 0 });
      }
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.terminate()));
      for (const host of hosts) host.close();
    },
  };
}

if (isMainThread) {
  // A hang is a failure, not an endless run.
  const noLimit = afterQuiet(100_000, () => process.exit(9));
  after(noLimit);

  for (const calls of ["koffi", "wasi"] as const) {
    test(`M8: every size between all ranks of two nodes at once, by ${calls}`, async () => {
      const done: number[] = [];
      const world = await start("exchange", placementOf([0, 0, 1, 1]), calls, (message) => done.push(message.done!));
      await Promise.all(world.exits);
      assert.deepEqual(done.sort(), [0, 1, 2, 3]);
      await world.close();
    });
  }

  test("M8: ranks with sockets sleep, and wake for their own node's packets as well as for others'", async () => {
    const idle: { wallMs: number; cpuMs: number; parks: number }[] = [];
    const heard = (message: Message) => message.idle && idle.push(message.idle);
    const world = await start("sleep", placementOf([0, 0, 1, 1]), "koffi", heard);
    await Promise.all(world.exits);
    await world.close();
    assert.equal(idle.length, 4);
    // CPU time is the process's: all four ranks together. Whose message was there before it waited has not been idle.
    for (const { wallMs, cpuMs } of idle) {
      if (wallMs > 50) assert.ok(cpuMs < wallMs, `${cpuMs} ms of CPU in ${wallMs} ms`);
    }
    // The first hardly ever waits long, and on a loaded machine others may not either.
    assert.ok(
      idle.some(({ parks }) => parks > 0),
      "nobody slept",
    );
  });

  test("M8: an awaited message from another node wakes the event loop", async () => {
    const startMs = quietNow();
    const world = await start("async", placementOf([0, 1]), "koffi", () => {});
    await Promise.all(world.exits);
    assert.ok(quietNow() - startMs < 5000);
    await world.close();
  });

  test("X7: a thread killed in the middle of a send harms nobody else", async () => {
    let count = 0;
    const world = await start("flood", placementOf([0, 0, 1, 1]), "koffi", (message) => {
      count = message.count ?? count;
    });
    const grown = async () => {
      const before = count;
      while (count < before + 100) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await grown();
    // One on the receiver's own node, one elsewhere; a third goes on.
    for (const victim of [2, 1]) {
      await world.kill(victim);
      await grown();
    }
    await world.close();
  });
}
