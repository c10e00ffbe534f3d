/** Both ways to call sockets from a thread keep the contract of socket-calls.ts, on real sockets. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { quietNow } from "../../../../test/patience.ts";
import { Handover, newHandover } from "../tcp/handover.ts";
import { PlainMemory } from "../testing/plain-memory.ts";
import { socketPair } from "../testing/socket-pairs.ts";
import { KoffiCalls } from "./koffi-calls.ts";
import { CLOSED, type SocketCalls, scratchBytes, WOULD_BLOCK } from "./socket-calls.ts";
import { WasiCalls } from "./wasi-calls.ts";

type Make = (memory: PlainMemory) => SocketCalls;
const implementations: Record<string, Make> = {
  koffi: (memory) => new KoffiCalls({ memory: memory.shared, scratch: memory.allocate(scratchBytes) }),
  wasi: (memory) => new WasiCalls({ memory: memory.shared, scratch: memory.allocate(scratchBytes) }),
};

async function world(make: Make) {
  const memory = new PlainMemory(8);
  const calls = make(memory);
  const pair = await socketPair();
  for (const fd of pair.fds) calls.open(fd);
  return { memory, calls, ...pair };
}

/** Calls until it does not say WOULD_BLOCK: the kernel needs a moment. */
async function eventually(call: () => number): Promise<number> {
  for (let i = 0; i < 2000; i++) {
    const outcome = call();
    if (outcome !== WOULD_BLOCK) return outcome;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return WOULD_BLOCK;
}

for (const [name, make] of Object.entries(implementations)) {
  describe(`M8: socket calls by ${name}`, () => {
    test("bytes go from memory to memory, and nothing there would block", async () => {
      const { memory, calls, fds } = await world(make);
      const from = memory.allocate(64);
      const to = memory.allocate(64);
      assert.equal(calls.receive(fds[1], to, 64), WOULD_BLOCK);
      memory.bytes.set([1, 2, 3, 4, 5], from);
      assert.equal(calls.send(fds[0], from, 5), 5);
      assert.equal(await eventually(() => calls.receive(fds[1], to, 64)), 5);
      assert.deepEqual([...memory.bytes.subarray(to, to + 6)], [1, 2, 3, 4, 5, 0]);
      assert.equal(calls.receive(fds[1], to, 64), WOULD_BLOCK);
    });

    test("bytes go from view to view", async () => {
      const { calls, fds } = await world(make);
      const view = new Uint8Array(10);
      assert.equal(calls.sendView(fds[1], Uint8Array.from([9, 8, 7, 6, 5]), 1, 3), 3);
      assert.equal(await eventually(() => calls.receiveView(fds[0], view, 4, 6)), 3);
      assert.deepEqual([...view], [0, 0, 0, 0, 8, 7, 6, 0, 0, 0]);
    });

    test("X8 no call is given bytes outside the memory or the view", async () => {
      const { memory, calls, fds } = await world(make);
      const outside = /outside the memory/;
      const end = memory.bytes.length;
      const view = new Uint8Array(10);
      for (const [at, bytes] of [
        [end - 5, 6],
        [end, 1],
        [-1, 4],
        [0, -1],
        [0, end + 1],
      ] as const) {
        assert.throws(() => calls.send(fds[0], at, bytes), outside);
        assert.throws(() => calls.receive(fds[1], at, bytes), outside);
      }
      for (const [offset, bytes] of [
        [0, 11],
        [8, 3],
        [10, 1],
        [-1, 2],
      ] as const) {
        assert.throws(() => calls.sendView(fds[0], view, offset, bytes), outside);
        assert.throws(() => calls.receiveView(fds[1], view, offset, bytes), outside);
      }
      // Nothing has left, and what follows is in order.
      assert.equal(calls.sendView(fds[0], Uint8Array.from([7]), 0, 1), 1);
      assert.equal(await eventually(() => calls.receiveView(fds[1], view, 9, 1)), 1);
      assert.equal(view[9], 7);
    });

    test("a full socket takes a part and then would block; all of it arrives", async () => {
      const { memory, calls, fds } = await world(make);
      const bytes = 7 << 19;
      const from = memory.allocate(bytes);
      const to = memory.allocate(bytes);
      for (let i = 0; i < bytes; i += 4096) memory.bytes[from + i] = i >> 12;
      let sent = 0;
      let blocked = 0;
      let got = 0;
      for (let round = 0; round < 1_000_000 && got < bytes; round++) {
        if (sent < bytes) {
          const took = calls.send(fds[0], from + sent, bytes - sent);
          assert.notEqual(took, CLOSED);
          if (took > 0) sent += took;
          else blocked++;
        }
        if (blocked === 0 && sent < bytes) continue;
        const took = calls.receive(fds[1], to + got, Math.min(bytes - got, 30_000));
        if (took > 0) got += took;
      }
      assert.equal(got, bytes);
      for (let i = 0; i < bytes; i += 4096) assert.equal(memory.bytes[to + i], (i >> 12) & 0xff);
    });

    test("the other side's end is CLOSED, for reading and for writing", async () => {
      const { memory, calls, fds, sockets } = await world(make);
      const at = memory.allocate(64);
      sockets[0].destroy();
      assert.equal(await eventually(() => calls.receive(fds[1], at, 64)), CLOSED);
      let outcome = 1;
      for (let i = 0; i < 1000 && outcome > 0; i++) outcome = await eventually(() => calls.send(fds[1], at, 64));
      assert.equal(outcome, CLOSED);
    });

    test("what is ready can be found, or it says that it cannot tell", async () => {
      const { memory, calls, fds } = await world(make);
      const from = memory.allocate(64);
      const before = calls.wait(0);
      if (before < 0) return;
      assert.equal(before, 0);
      calls.send(fds[0], from, 8);
      assert.equal(calls.wait(100), 1);
      assert.equal(calls.readyAt(0), fds[1]);
      calls.watchWritable(fds[0], true);
      assert.equal(calls.wait(100), 2);
      calls.watchWritable(fds[0], false);
      calls.close(fds[1]);
      assert.equal(calls.wait(0), 0);
    });

    test("a neighbour ends a sleep, once", async () => {
      const { calls } = await world(make);
      if (calls.wakeFd < 0) return;
      const handover = new Handover(newHandover({ processes: 1, ranks: 2 }));
      handover.wakeBy(0, calls.wakeFd);
      handover.wake(0);
      handover.wake(0);
      // A minute: whoever is not woken sleeps it out.
      const beganMs = quietNow();
      assert.equal(calls.wait(60_000), 0);
      assert.ok(quietNow() - beganMs < 30_000, "woken at once");
      const start = performance.now();
      assert.equal(calls.wait(30), 0);
      assert.ok(performance.now() - start >= 25, "sleeps until the time is over");
    });
  });
}
