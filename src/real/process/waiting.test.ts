/** Waiting: a parked process costs nothing, wakes for a packet, for room and for news, and is never later than its bound. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { quietNow, timeLimit } from "../../../test/patience.ts";
import { BYTES, KIND, PacketKind } from "../../core/wire/packet.ts";
import { SharedCore } from "../machine/shared-core.ts";
import { Bell, Line, layoutOf, lineOf, type MemoryLayout } from "../transport/layout.ts";
import { LivingProcesses } from "../transport/living-processes.ts";
import { enterNodeMemory, newNodeMemory } from "../transport/node-memory.ts";
import { NoticeBoard, NoticeKind, NoticeReader } from "../transport/notices.ts";
import { RankMemory } from "../transport/rank-memory.ts";
import { RingTransport } from "../transport/ring-transport.ts";
import { Waiting } from "./waiting.ts";

interface Task {
  readonly memory: WebAssembly.Memory;
  readonly layout: MemoryLayout;
  readonly crowded: boolean;
}

function endOf(memory: WebAssembly.Memory, layout: MemoryLayout, rank: number) {
  const node = enterNodeMemory(memory, layout, rank);
  const transport = new RingTransport(node, new RankMemory(node), { rank, places: Int32Array.of(0, 1) });
  return { node, transport };
}

function post(transport: RingTransport, to: number, kind: number): boolean {
  const packet = transport.reserve(to, 0);
  if (packet < 0) return false;
  transport.words[packet + KIND] = kind;
  transport.words[packet + BYTES] = 0;
  transport.commit(to);
  return true;
}

/** Rank 1: answers every packet and every notice with a packet, until it is terminated. */
function echo({ memory, layout, crowded }: Task): void {
  const { node, transport } = endOf(memory, layout, 1);
  const waiting = new Waiting(node, transport, { crowded, parkMsMax: 60_000 });
  const notices = new NoticeReader(node);
  parentPort!.postMessage("ready");
  for (let owed = 0; ; ) {
    let moved = false;
    if (transport.peek() >= 0) {
      transport.release();
      owed++;
      moved = true;
    }
    if (notices.isNews() && notices.next() !== undefined) {
      owed++;
      moved = true;
    }
    if (owed > 0 && post(transport, 0, PacketKind.EAGER)) {
      owed--;
      moved = true;
    }
    if (moved) waiting.reset();
    else waiting.idle();
  }
}

async function newWorld(crowded: boolean) {
  const layout = layoutOf({ processes: 2, memoryBytes: 16 << 20, boards: 1 });
  const memory = newNodeMemory(layout);
  const main = enterNodeMemory(memory, layout, -1);
  const population = new LivingProcesses(main);
  population.born(0, 0);
  population.born(1, 0);
  const task: Task = { memory, layout, crowded };
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: task });
  const { transport } = endOf(memory, layout, 0);
  await once(worker, "message");
  /** Waits for that many answers; the worker parks for up to a minute, so a lost wake-up would be noticed. */
  const answers = async (count: number) => {
    const endMs = quietNow() + 5000;
    for (let left = count; left > 0; ) {
      if (transport.peek() >= 0) {
        transport.release();
        left--;
      } else await pause(1);
      assert.ok(quietNow() < endMs, `${left} of ${count} answers did not come: a wake-up was lost`);
    }
  };
  return { transport, worker, population, answers, notices: new NoticeBoard(main, population) };
}

if (!isMainThread) echo(workerData as Task);
else {
  test("a rank spins before it yields, but not on a core that another thread wants", () => {
    const layout = layoutOf({ processes: 1, memoryBytes: 16 << 20, boards: 1 });
    const node = enterNodeMemory(newNodeMemory(layout), layout, 0);
    let spins = 0;
    const spinner = { spin: () => ++spins < 0 };
    // What the yields of a test find out about its machine shall not matter.
    const core = Object.defineProperty(new SharedCore(), "yielded", { value: () => {} });
    const waiting = new Waiting(node, spinner, { crowded: false, spins: 5, yields: 5, core });
    const wait = (): number => {
      spins = 0;
      waiting.reset();
      for (let idles = 0; idles < 5; idles++) waiting.idle();
      return spins;
    };
    assert.equal(wait(), 5);
    SharedCore.prototype.yielded.call(core, 1);
    assert.equal(wait(), 0);
    for (let yields = 0; yields < 100; yields++) SharedCore.prototype.yielded.call(core, 0);
    assert.equal(wait(), 5);
  });

  test("with more ranks than cores a rank yields before it sleeps, less often where others are on other nodes (ADR 64)", () => {
    const layout = layoutOf({ processes: 1, memoryBytes: 16 << 20, boards: 1 });
    const sleeper = { canSleep: true, nextNapMs: () => 1, sleep() {}, onReady: () => null };
    const spinner = { spin: () => assert.fail("it spins") };
    const idlesBeforeSleep = (sleeping: typeof sleeper | null): number => {
      const node = enterNodeMemory(newNodeMemory(layout), layout, 0);
      const waiting = new Waiting(node, spinner, { crowded: true, sleeper: sleeping, parkMsMax: 1 });
      let idles = 0;
      for (; waiting.parks === 0; idles++) waiting.idle();
      return idles;
    };
    // The last two say that it sleeps, and sleep.
    assert.equal(idlesBeforeSleep(null), 202);
    assert.equal(idlesBeforeSleep(sleeper), 52);
  });

  test("L1 ADR 88: a little is prepared whenever the core was given away, and never while it spins", () => {
    const layout = layoutOf({ processes: 1, memoryBytes: 16 << 20, boards: 1 });
    const node = enterNodeMemory(newNodeMemory(layout), layout, 0);
    const done: string[] = [];
    const prepare = (): boolean => done.push("prepare") > 0;
    const spinner = { spin: () => done.push("spin") < 0 };
    const core = Object.defineProperty(new SharedCore(), "yielded", { value: () => {} });
    const waiting = new Waiting(node, spinner, { crowded: false, spins: 2, yields: 4, core, prepare });
    for (let idles = 0; idles < 6; idles++) waiting.idle();
    assert.deepEqual(done, ["spin", "spin", "prepare", "prepare", "prepare"]);
  });

  test("V10 a rank that waits for a service looks before it naps only after short waits, and after a nap in vain it sleeps until its bell rings (ADR 74)", () => {
    const layout = layoutOf({ processes: 1, memoryBytes: 16 << 20, boards: 1 });
    const node = enterNodeMemory(newNodeMemory(layout), layout, 0);
    const bell = lineOf(layout, 0) + Line.BELL;
    const done: string[] = [];
    const napper = {
      nap: () => done.push("nap") > 0,
      takeWaiting: () => true,
      canSleep: true,
      sleep: () => void done.push(`sleep ${node.calls.load(bell)}`),
      services: 1,
    };
    const waiting = new Waiting(node, { spin: () => assert.fail("it spins") }, { crowded: true, napper });
    const idle = (times: number): string[] => {
      for (let i = 0; i < times; i++) waiting.idle();
      return done.splice(0);
    };
    // The 20 yields, the nap, the announcement, the sleep.
    assert.deepEqual(idle(23), ["nap", `sleep ${Bell.PARKED_ELSEWHERE}`]);
    assert.equal(node.calls.load(bell), Bell.AWAKE);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    waiting.reset();
    // That was long: no looks, until four waits in a row were short.
    for (let wait = 0; wait < 4; wait++) {
      assert.deepEqual(idle(1), ["nap"]);
      waiting.reset();
    }
    assert.deepEqual(idle(20), []);
    assert.deepEqual(idle(1), ["nap"]);
  });

  for (const crowded of [false, true]) {
    test(`a rank that waits burns no processor time (crowded: ${crowded})`, timeLimit(30_000), async () => {
      const { transport, worker, answers } = await newWorld(crowded);
      await pause(300);
      const before = process.cpuUsage();
      await pause(1000);
      const { user, system } = process.cpuUsage(before);
      assert.ok(user + system < 150_000, `one second of waiting took ${(user + system) / 1000} ms of processor time`);
      assert.ok(post(transport, 1, PacketKind.EAGER));
      await answers(1);
      await worker.terminate();
    });

    test(`a parked rank wakes for packets, room and notices (crowded: ${crowded})`, timeLimit(30_000), async () => {
      const { transport, worker, answers, notices } = await newWorld(crowded);
      for (let round = 0; round < 30; round++) {
        // Sometimes parked, sometimes about to park.
        await pause(round % 3 === 0 ? 20 : 0);
        assert.ok(post(transport, 1, PacketKind.EAGER));
        await answers(1);
        assert.ok(notices.append({ kind: NoticeKind.DIED, rank: 7, incarnation: round }));
        await answers(1);
      }
      // More than both rings hold: the echo sleeps until there is room for its answers, while packets wait for it.
      let sent = 0;
      while (sent < 120) {
        if (post(transport, 1, PacketKind.EAGER)) sent++;
        else await pause(5);
      }
      await pause(100);
      await answers(sent);
      await worker.terminate();
    });
  }
}
