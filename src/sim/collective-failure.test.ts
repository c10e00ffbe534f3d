/** What the end of a failed collective means for the program's buffers. Row M3. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorClass } from "../core/base/mpi-error.ts";
import { R_ERROR } from "../core/request/records.ts";
import { World } from "./world.ts";

const blockBytes = 60_000;
const used = 0x77;

test("M3 a gather that failed writes no more into the root's buffer once the program has heard of it", () => {
  let came = 0;
  for (let seed = 1; seed <= 40; seed++) {
    const world = new World({ ranks: 3, nodes: 3, seed, cost: { detectionNs: 20_000 } });
    let error = 0;
    let buffer: Uint8Array = new Uint8Array();
    world.startAll(function* ({ core, engine, memory, rank, compute }) {
      // Its block is under way when the root hears of the death, sooner or later.
      if (rank === 1) yield compute(seed * 1_000);
      const [send, receive] = [memory.allocate(blockBytes), memory.allocate(3 * blockBytes)];
      memory.view(send, blockBytes).fill(rank);
      const call = { bytes: blockBytes, root: 0 };
      const request = core.collectives.startEqual(core.world, "gather", send, receive, call);
      yield request;
      if (rank !== 0) return;
      error = engine.records.get(request, R_ERROR);
      buffer = memory.view(receive, 3 * blockBytes);
      if (buffer.subarray(blockBytes, 2 * blockBytes).includes(1)) came++;
      // It is the program's again.
      buffer.fill(used);
    });
    world.planCrash(1_000, 2);
    assert.deepEqual(world.run(), [], `seed ${seed}`);
    assert.equal(error, ErrorClass.PROC_FAILED);
    const wrong = buffer.findIndex((byte) => byte !== used);
    assert.equal(wrong, -1, `seed ${seed}: byte ${wrong} came after the end`);
  }
  assert.ok(came > 0 && came < 40, `a block came before the end ${came} times`);
});
