/** The sleep of several processes with sockets in one thread: a packet, or a wake, for any of them ends it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bell } from "../transport/layout.ts";
import { KoffiCalls } from "../transport/sockets/koffi-calls.ts";
import { type SocketCalls, scratchBytes } from "../transport/sockets/socket-calls.ts";
import { writeWake } from "../transport/sockets/wake.ts";
import { Handover } from "../transport/tcp/handover.ts";
import { newTcpWorld, type TcpRank, type TcpWorld } from "../transport/testing/tcp-world.ts";
import { jointSleepOf, type SleepingProcess } from "./joint-socket-sleep.ts";

/** Processes of a world that share a thread, and what the thread's `wait` has found each time. */
class Sharing {
  readonly found: number[] = [];
  readonly bells = new Int32Array(new SharedArrayBuffer(64));
  readonly sleep: ReturnType<typeof jointSleepOf>;
  readonly members: SleepingProcess[];
  #calls: SocketCalls | null = null;

  constructor({ ranks, hosts }: TcpWorld, numbers: readonly number[]) {
    this.members = numbers.map((number, i) => {
      const { transport } = ranks[number]!;
      return {
        bell: { words: this.bells, address: i * 4, set: (value) => Atomics.store(this.bells, i, value) },
        sockets: {
          get readyFd() {
            return transport.readyFd;
          },
          watchBlocked: (watch) => transport.watchBlocked(watch),
          collect: () => transport.collect(),
          openCalls: () => this.#openCalls(ranks[number]!),
          wakeBy: (eventfd) => new Handover(hosts[number]!.handover).wakeBy(0, eventfd),
        },
      };
    });
    this.sleep = jointSleepOf(this.members);
  }

  #openCalls({ memory }: TcpRank): SocketCalls {
    const calls = new KoffiCalls({ memory: memory.shared, scratch: memory.allocate(scratchBytes) });
    const { wait } = calls;
    calls.wait = (timeoutMs) => {
      this.found.push(wait.call(calls, timeoutMs));
      return this.found.at(-1)!;
    };
    this.#calls = calls;
    return calls;
  }

  sleepOnce(ms: number): void {
    this.sleep.announce();
    this.sleep.sleep(ms);
    assert.ok(!this.sleep.isAnnounced);
  }

  get readyFd(): number {
    return this.#calls!.readyFd;
  }

  close(): void {
    this.#calls?.end();
  }
}

async function within(nodes: number, numbers: readonly number[], body: (sharing: Sharing, world: TcpWorld) => void) {
  const world = await newTcpWorld(nodes, "koffi");
  const sharing = new Sharing(world, numbers);
  try {
    // Everybody has spoken to the first.
    for (const number of numbers) world.ranks[0]!.send(number, 1);
    await world.until(() => numbers.every((number) => world.ranks[number]!.arrivals.length === 1));
    body(sharing, world);
  } finally {
    world.close();
    sharing.close();
  }
}

test("L1 ADR 88: what a service says ends the sleep of one who waits for it, and nobody else's; and a message ends it too", () =>
  within(3, [1, 2], (sharing, { ranks }) => {
    const service = new KoffiCalls({
      memory: ranks[0]!.memory.shared,
      scratch: ranks[0]!.memory.allocate(scratchBytes),
    });
    try {
      const timed = (alsoFds: readonly number[]): number => {
        sharing.sleep.announce();
        sharing.sleep.sleep(60, alsoFds);
        return sharing.found.at(-1)!;
      };
      sharing.sleepOnce(0);
      assert.equal(timed([service.readyFd]), 0, "nothing has been said");
      writeWake(service.wakeFd);
      assert.equal(timed([service.readyFd]), 1);
      assert.equal(timed([]), 0, "it is not read, and ends no sleep of those who do not wait for it");
      ranks[0]!.send(2, 2);
      assert.equal(timed([]), 1);
      assert.equal(timed([service.readyFd]), 2, "both");
    } finally {
      service.end();
    }
  }));

test("T1: a message from another node for any of the processes ends the sleep of the thread that they share", () =>
  within(4, [1, 2, 3], (sharing, { ranks, hosts }) => {
    for (const to of [1, 2, 3, 3, 2, 1]) {
      ranks[0]!.send(to, 2);
      sharing.sleepOnce(100);
      assert.equal(sharing.found.at(-1), 1);
      assert.ok(sharing.sleep.watchesSockets);
      const before = ranks[to]!.arrivals.length;
      ranks[to]!.look();
      assert.equal(ranks[to]!.arrivals.length, before + 1);
      sharing.sleepOnce(0);
      assert.equal(sharing.found.at(-1), 0, "nothing is left of it");
      assert.deepEqual([...sharing.bells.subarray(0, 3)], [Bell.AWAKE, Bell.AWAKE, Bell.AWAKE]);
    }
    // A neighbour in the node that has news for one of them finds its bell so, and wakes it.
    sharing.sleep.announce();
    assert.deepEqual([...sharing.bells.subarray(0, 3)], new Array(3).fill(Bell.PARKED_ELSEWHERE));
    new Handover(hosts[2]!.handover).wake(0);
    sharing.sleep.sleep(100);
    assert.equal(sharing.found.at(-1), 1);
    sharing.sleepOnce(0);
    assert.equal(sharing.found.at(-1), 0, "that wake is used up");
  }));

test("T1: a process without sockets is woken by those of its thread", () =>
  within(3, [1], (_, world) => {
    const sharing = new Sharing(world, [1, 2]);
    sharing.sleep.announce();
    assert.ok(sharing.sleep.isAnnounced);
    assert.equal(sharing.bells[1], Bell.PARKED_ELSEWHERE);
    const { memory } = world.ranks[0]!;
    const watch = new KoffiCalls({ memory: memory.shared, scratch: memory.allocate(scratchBytes) });
    watch.open(sharing.readyFd);
    assert.equal(watch.wait(0), 0);
    new Handover(world.hosts[2]!.handover).wake(0);
    assert.equal(watch.wait(100), 1, "the sleep would end");
    sharing.sleep.sleep(100);
    assert.equal(watch.wait(0), 0, "once");
    watch.end();
    sharing.close();
  }));

test("T1: one that has ended ends no sleep, whatever comes for it", () =>
  within(3, [1, 2], (sharing, { ranks }) => {
    sharing.sleep.announce();
    sharing.sleep.leave(sharing.members[0]!);
    ranks[0]!.send(1, 2);
    for (let i = 0; i < 3; i++) {
      sharing.sleepOnce(1);
      assert.equal(sharing.found.at(-1), 0);
    }
    assert.equal(sharing.bells[0], Bell.AWAKE);
    ranks[0]!.send(2, 2);
    sharing.sleepOnce(100);
    assert.equal(sharing.found.at(-1), 1);
  }));

test("T1: before the first connection the processes sleep on a bell", async () => {
  const world = await newTcpWorld(3, "koffi");
  const sharing = new Sharing(world, [1, 2]);
  try {
    sharing.sleep.announce();
    assert.deepEqual([...sharing.bells.subarray(0, 1)], [Bell.PARKED]);
    sharing.sleep.sleep(0);
    assert.deepEqual(sharing.found, []);
    assert.equal(sharing.sleep.watchesSockets, false);
  } finally {
    world.close();
  }
});
