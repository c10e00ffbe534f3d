/** Boards with real threads: more ranks than cores, many rounds, and what a death leaves behind. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { tries } from "../../../test/long.ts";
import { timeLimit } from "../../../test/patience.ts";
import { Waiting } from "../process/waiting.ts";
import { layoutOf, type MemoryLayout } from "./layout.ts";
import { LivingProcesses } from "./living-processes.ts";
import { enterNodeMemory, newNodeMemory } from "./node-memory.ts";
import { RankMemory } from "./rank-memory.ts";
import { RingTransport } from "./ring-transport.ts";
import { SharedBoards } from "./shared-board.ts";

interface Task {
  readonly memory: WebAssembly.Memory;
  readonly layout: MemoryLayout;
  readonly rank: number;
  readonly index: number;
  readonly rounds: number;
  readonly yields: number;
}

function endOf(memory: WebAssembly.Memory, layout: MemoryLayout, rank: number) {
  const node = enterNodeMemory(memory, layout, rank);
  const places = Int32Array.from({ length: layout.processes }, (_, i) => i);
  const transport = new RingTransport(node, new RankMemory(node), { rank, places });
  return { node, transport, boards: new SharedBoards(node, transport, places) };
}

/** Sums, then everybody reads everybody's part. */
function rank({ memory, layout, rank: me, index, rounds, yields }: Task): void {
  const { node, transport, boards } = endOf(memory, layout, me);
  const waiting = new Waiting(node, transport, { crowded: true, yields, parkMsMax: 60_000 });
  const members = layout.processes;
  const board = boards.open(
    index,
    me,
    Array.from({ length: members }, (_, i) => i),
  );
  assert.ok(board.bytesMax >= rounds + members, "there is room for all lengths");
  const doubles = new Float64Array(memory.buffer);
  for (let round = 0; round < rounds; round++) {
    // Of a short part, and in later rounds of a long one.
    board.putLength(me, round + me);
    doubles[board.part(me) >> 3] = round * 100 + me;
    if (board.arrive()) {
      let sum = 0;
      for (let member = 0; member < members; member++) sum += doubles[board.part(member) >> 3]!;
      doubles[(board.part(0) >> 3) + 1] = sum;
      board.open();
    }
    while (!board.passed()) waiting.idle();
    waiting.reset();
    assert.equal(doubles[(board.part(0) >> 3) + 1], members * (round * 100) + (members * (members - 1)) / 2);
    for (let member = 0; member < members; member++) {
      assert.equal(doubles[board.part(member) >> 3], round * 100 + member);
      assert.equal(board.lengthOf(member), round + member);
    }
    board.next();
  }
  boards.leave(index);
  parentPort!.postMessage(waiting.parks);
}

if (!isMainThread) rank(workerData as Task);
else {
  const newNode = (processes: number) => {
    const layout = layoutOf({ processes, memoryBytes: 64 << 20, boards: 3 });
    const memory = newNodeMemory(layout);
    const population = new LivingProcesses(enterNodeMemory(memory, layout, -1));
    for (let process = 0; process < processes; process++) population.born(process, 0);
    return { layout, memory, population };
  };

  for (const [what, yields, rounds] of [
    ["yielding", 200, tries(300, 3000)],
    ["sleeping at once", 0, 400],
  ] as const) {
    test(`eight threads, ${rounds} rounds, ${what}`, timeLimit(60_000), async (t) => {
      const { layout, memory } = newNode(8);
      const index = endOf(memory, layout, 0).boards.claim(8);
      const parks = await Promise.all(
        Array.from({ length: 8 }, async (_, me) => {
          const task: Task = { memory, layout, rank: me, index, rounds, yields };
          const worker = new Worker(fileURLToPath(import.meta.url), { workerData: task });
          const [count] = (await once(worker, "message")) as [number];
          return count;
        }),
      );
      t.diagnostic(`${parks.reduce((a, b) => a + b)} naps`);
      assert.equal(endOf(memory, layout, 0).boards.claim(8), index, "when all have left the board is free again");
    });
  }

  test("the pool has an end, members are counted, the dead are taken off", () => {
    const { layout, memory, population } = newNode(2);
    const [a, b] = [endOf(memory, layout, 0).boards, endOf(memory, layout, 1).boards];
    assert.deepEqual([a.claim(2), b.claim(2), a.claim(1), a.claim(2)], [0, 1, 2, -1]);
    assert.equal(a.claim(3), -1);
    a.open(0, 0, [0, 1]);
    b.open(0, 1, [0, 1]);
    a.leave(0);
    assert.equal(a.claim(2), -1, "the other member is still there");
    population.died(1);
    assert.equal(a.claim(2), 0, "its death frees the board");
  });

  test("an arrival can be withdrawn until the last member has arrived", () => {
    const { layout, memory } = newNode(2);
    const [a, b] = [endOf(memory, layout, 0).boards, endOf(memory, layout, 1).boards];
    const index = a.claim(2);
    const [one, two] = [a.open(index, 0, [0, 1]), b.open(index, 1, [0, 1])];
    assert.equal(one.arrive(), false);
    assert.equal(one.withdraw(), true);
    assert.equal(two.arrive(), false);
    assert.equal(one.arrive(), true);
    assert.equal(two.withdraw(), false);
    assert.equal(two.passed(), false);
    one.open();
    assert.equal(two.passed(), true);
    assert.equal(two.withdraw(), false);
  });
}
