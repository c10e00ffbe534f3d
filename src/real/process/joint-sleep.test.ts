/** The sleep of several processes in one thread: a packet for any of them wakes it. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { BYTES, KIND, PacketKind } from "../../core/wire/packet.ts";
import { Bell, layoutOf, type MemoryLayout } from "../transport/layout.ts";
import { enterNodeMemory, newNodeMemory } from "../transport/node-memory.ts";
import { RankMemory } from "../transport/rank-memory.ts";
import { RingTransport } from "../transport/ring-transport.ts";
import { JointSleep, processBellOf } from "./joint-sleep.ts";

interface Task {
  readonly memory: WebAssembly.Memory;
  readonly layout: MemoryLayout;
}

/** Process 0 is the main thread's, processes 1 to 3 share the other thread. */
const sharing = [1, 2, 3];

function endOf({ memory, layout }: Task, rank: number) {
  const node = enterNodeMemory(memory, layout, rank);
  const transport = new RingTransport(node, new RankMemory(node), { rank, places: Int32Array.of(0, 1, 2, 3) });
  return { bell: processBellOf(node), transport };
}

/** Says that it is about to sleep, then which of them has a packet, again and again. */
function sleeper(task: Task): void {
  const ends = sharing.map((rank) => endOf(task, rank));
  const sleep = new JointSleep(ends.map(({ bell }) => bell));
  for (;;) {
    const found = ends.findIndex(({ transport }) => transport.peek() >= 0);
    if (found >= 0) {
      sleep.awake();
      ends[found]!.transport.release();
      parentPort!.postMessage(sharing[found]);
    } else if (!sleep.isAnnounced) {
      sleep.announce();
      parentPort!.postMessage("sleeps");
    } else sleep.sleep(Number.POSITIVE_INFINITY);
  }
}

if (!isMainThread) sleeper(workerData as Task);
else {
  test("T1: a packet for any of the processes wakes the thread that they share", async () => {
    const layout = layoutOf({ processes: 4, memoryBytes: 16 << 20 });
    const task = { memory: newNodeMemory(layout), layout };
    const { bell, transport } = endOf(task, 0);
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: task });
    try {
      for (const to of [...sharing, ...sharing.toReversed()]) {
        assert.deepEqual(await once(worker, "message"), ["sleeps"]);
        const packet = transport.reserve(to, 0);
        transport.words[packet + KIND] = PacketKind.EAGER;
        transport.words[packet + BYTES] = 0;
        transport.commit(to);
        assert.deepEqual(await once(worker, "message"), [to]);
      }
      assert.equal(bell.words[bell.address >> 2], Bell.AWAKE);
    } finally {
      await worker.terminate();
    }
  });
}
