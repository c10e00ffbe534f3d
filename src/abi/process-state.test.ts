import assert from "node:assert/strict";
import { test } from "node:test";
import { restoreProcess, saveProcess } from "./process-state.ts";
import { TestRanks } from "./test-ranks.ts";

const COMM_WORLD = 0x101;
const INT = 0x209;

/** State and memory of every rank, put into ranks of another world. */
function moved(ranks: TestRanks, size: number): TestRanks {
  const other = new TestRanks(size);
  for (const [rank, { program, memory }] of ranks.programs.entries()) {
    const state = saveProcess(program);
    const target = other.programs[rank]!;
    target.memory.arena.copyFrom(memory.arena);
    restoreProcess(target.program, state);
    assert.deepEqual(saveProcess(target.program), state, "saving again gives the same bytes");
  }
  return other;
}

test("M6 images: communicators, datatypes and pending requests go on in another process", () => {
  const ranks = new TestRanks(2);
  const made = ranks.all((c, rank) => {
    const [comm, type, request, buffer] = [c.alloc(4), c.alloc(4), c.alloc(4), c.alloc(64)];
    c.call("MPI_Comm_dup", COMM_WORLD, comm);
    c.call("MPI_Type_vector", 2, 1, 2, INT, type);
    c.call("MPI_Type_commit", type);
    const { ints } = c.program;
    if (rank === 1) c.call("MPI_Irecv", buffer, 1, ints[type >> 2]!, 0, 7, ints[comm >> 2]!, request);
    return { comm: ints[comm >> 2]!, type: ints[type >> 2]!, request, buffer };
  });
  const other = moved(ranks, 2);
  const values = other.all((c, rank) => {
    const { comm, type, request, buffer } = made[rank]!;
    if (rank === 0) {
      c.program.ints.set([11, 12, 13], buffer >> 2);
      c.call("MPI_Send", buffer, 1, type, 1, 7, comm);
      return [];
    }
    c.call("MPI_Wait", request, 0);
    return [...c.program.ints.subarray(buffer >> 2, (buffer >> 2) + 3)];
  });
  assert.deepEqual(values[1], [11, 0, 13]);
});
