import assert from "node:assert/strict";
import { test } from "node:test";
import { restoreProcess, saveProcess } from "./process-state.ts";
import { TestRanks } from "./testing/ranks.ts";

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
    target.watched.restored();
    const again = saveProcess(target.program);
    assert.equal(again.length, state.length);
    const others = [...again.keys()].filter((i) => again[i] !== state[i]);
    assert.equal(others.length, 1, "saving again gives the same bytes, but for how often it has been restored");
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

test("M6 images: persistent collectives, also of freed datatypes, start again in another process", () => {
  const SUM = 0x21;
  const ranks = new TestRanks(2);
  const made = ranks.all((c, rank) => {
    const type = c.get("MPI_Type_vector", 2, 1, 2, INT);
    c.call("MPI_Type_commit", c.ints(type));
    const [from, gathered, sum, requests] = [c.ints(rank, -1, 10 + rank), c.alloc(16), c.alloc(4), c.alloc(8)];
    const [counts, offsets] = [c.ints(2, 2), c.ints(0, 2)];
    c.call("MPI_Allgatherv_init", from, 1, type, gathered, counts, offsets, INT, COMM_WORLD, 0x130, requests);
    c.call("MPI_Allreduce_init", from, sum, 1, INT, SUM, COMM_WORLD, 0x130, requests + 4);
    c.call("MPI_Type_free", c.ints(type));
    return { gathered, sum, requests };
  });
  const other = moved(ranks, 2);
  other.all((c, rank) => c.call("MPI_Startall", 2, made[rank]!.requests));
  const values = other.all((c, rank) => {
    const { gathered, sum, requests } = made[rank]!;
    c.call("MPI_Waitall", 2, requests, 0);
    return [...c.list(gathered, 4), c.int(sum)];
  });
  assert.deepEqual(values, [
    [0, 10, 1, 11, 1],
    [0, 10, 1, 11, 1],
  ]);
});

test("M6 images: a persistent collective that one rank has started once more than the other is still the same in another process", () => {
  const ranks = new TestRanks(2);
  const requests = ranks.get("MPI_Barrier_init", () => [COMM_WORLD, 0x130]);
  const starts = (world: TestRanks, starter: number): void => {
    world.all((c, rank) => rank === starter && c.call("MPI_Start", c.ints(requests[rank]!)));
  };
  const waits = (world: TestRanks): number[] => world.all((c, rank) => c.call("MPI_Wait", c.ints(requests[rank]!), 0));
  starts(ranks, 0);
  const other = moved(ranks, 2);
  starts(other, 1);
  assert.deepEqual(waits(other), [0, 0]);
  starts(other, 0);
  // Rank 1 has not started it a second time. Rank 0 asks, and must not be told that its message will never come.
  assert(other.ask());
  other.all(() => null);
  starts(other, 1);
  assert.deepEqual(waits(other), [0, 0]);
  assert.deepEqual(
    other.programs.map(({ program }) => program.process.inquiries.verdicts),
    [0, 0],
  );
});

test("M6 images: a collective of objects that has a number and has not begun is still to come in another process", () => {
  const ranks = new TestRanks(2);
  const { communicators } = ranks.programs[0]!.program.process;
  const comm = [...communicators.values()].find(({ size }) => size === 2)!;
  const number = comm.promiseCollective();
  const restored = moved(ranks, 2).programs[0]!.program.process.communicators.get(comm.context)!;
  assert.equal(restored.hasReached(number, 0), false);
  restored.endPromise(number);
  assert.equal(restored.hasReached(number, 0), true);
});

test("M6 images: an exchange that is under way, and a generalized request, are completed in another process", () => {
  const ranks = new TestRanks(1);
  const [c] = ranks.programs;
  const seen: number[] = [];
  const note = (extra?: number) => {
    seen.push(extra!);
    return 0;
  };
  const [query, free, cancel] = [c!.function(note), c!.function(note), c!.function(note)];
  const [into, requests] = [c!.alloc(4), c!.alloc(8)];
  c!.call("MPI_Isendrecv", c!.ints(6), 1, INT, -3, 1, into, 1, INT, 0, 1, COMM_WORLD, requests);
  c!.call("MPI_Grequest_start", query, free, cancel, 77, requests + 4);
  const [d] = moved(ranks, 1).programs;
  for (let i = 0; i < 3; i++) d!.function(note);
  d!.call("MPI_Grequest_complete", d!.int(requests + 4));
  d!.call("MPI_Send", d!.ints(8), 1, INT, 0, 1, COMM_WORLD);
  d!.call("MPI_Waitall", 2, requests, 0);
  assert.equal(d!.int(into), 8);
  assert.deepEqual(seen, [77, 77]);
});
