import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import type { TestProgram } from "../testing/program.ts";
import { ERRORS_RETURN, INFO_NULL, INT, TestRanks, WORLD } from "../testing/ranks.ts";

const PROC_NULL = -3;

/** Rank 0 sends to rank 1; the address of each rank's request. */
function channel(ranks: TestRanks, buffers: readonly number[], partitions: readonly number[], tag: number): number[] {
  return ranks.all((c, rank) => {
    const request = c.alloc(4);
    const count = BigInt(8 / partitions[rank]!);
    const args = [buffers[rank]!, partitions[rank]!, count, INT, 1 - rank, tag, WORLD, INFO_NULL, request] as const;
    equal(c.call(rank === 0 ? "MPI_Psend_init" : "MPI_Precv_init", ...args), 0);
    return request;
  });
}

const arrived = (c: TestProgram, request: number, partition: number): number => {
  const flag = c.alloc(4);
  c.call("MPI_Parrived", c.int(request), partition, flag);
  return c.int(flag);
};

describe("M4 §4 partitioned messages", () => {
  it("arrive when all partitions are ready, however they are divided on both sides, again and again", () => {
    const ranks = new TestRanks(2);
    const [sender, receiver] = ranks.programs as [TestProgram, TestProgram];
    const buffers = ranks.all((c) => c.alloc(32));
    const requests = channel(ranks, buffers, [4, 2], 5);
    for (const first of [10, 20]) {
      sender.program.putList(
        buffers[0]!,
        Array.from({ length: 8 }, (_, i) => first + i),
      );
      ranks.all((c, rank) => equal(c.call("MPI_Start", requests[rank]!), 0));
      const handle = sender.int(requests[0]!);
      sender.call("MPI_Pready", 2, handle);
      sender.call("MPI_Pready_range", 0, 1, handle);
      sender.settle();
      equal(arrived(receiver, requests[1]!, 0), 0);
      sender.call("MPI_Pready_list", 1, sender.ints(3), handle);
      sender.settle();
      equal(arrived(receiver, requests[1]!, 1), 1);
      const status = receiver.alloc(32);
      ranks.all((c, rank) => equal(c.call("MPI_Wait", requests[rank]!, rank === 1 ? status : 0), 0));
      deepEqual(
        receiver.list(buffers[1]!, 8),
        Array.from({ length: 8 }, (_, i) => first + i),
      );
      deepEqual(receiver.list(status, 2), [0, 5]);
      equal(arrived(receiver, requests[1]!, 0), 1, "an inactive request");
    }
    ranks.all((c, rank) => equal(c.call("MPI_Request_free", requests[rank]!), 0));
    equal(Math.max(...ranks.all((c) => c.end())), 0);
  });

  it("of which not all partitions can be made ready make none ready", () => {
    const ranks = new TestRanks(2);
    const [sender] = ranks.programs as [TestProgram, TestProgram];
    sender.call("MPI_Comm_set_errhandler", WORLD, ERRORS_RETURN);
    const requests = channel(
      ranks,
      ranks.all((c) => c.alloc(32)),
      [4, 2],
      5,
    );
    ranks.all((c, rank) => equal(c.call("MPI_Start", requests[rank]!), 0));
    const handle = sender.int(requests[0]!);
    equal(sender.call("MPI_Pready_range", 2, 0x7ffffffe, handle), ErrorClass.ARG);
    equal(sender.call("MPI_Pready_list", 3, sender.ints(0, 1, 0), handle), ErrorClass.ARG);
    equal(sender.call("MPI_Pready_range", 0, 3, handle), 0);
    ranks.all((c, rank) => equal(c.call("MPI_Wait", requests[rank]!, 0), 0));
  });

  it("whose partitions never become ready end when the communicator is revoked", () => {
    const ranks = new TestRanks(2);
    for (const c of ranks.programs) c.call("MPI_Comm_set_errhandler", WORLD, ERRORS_RETURN);
    const requests = channel(
      ranks,
      ranks.all((c) => c.alloc(32)),
      [4, 2],
      5,
    );
    ranks.all((c, rank) => equal(c.call("MPI_Start", requests[rank]!), 0));
    equal(ranks.programs[1]!.call("MPIX_Comm_revoke", WORLD), 0);
    const ends = ranks.all((c, rank) => c.call("MPI_Wait", requests[rank]!, 0));
    deepEqual(ends, [ErrorClass.REVOKED, ErrorClass.REVOKED]);
    ranks.all((c, rank) => equal(c.call("MPI_Start", requests[rank]!), 0));
    const again = ranks.all((c, rank) => c.call("MPI_Wait", requests[rank]!, 0));
    deepEqual(again, [ErrorClass.REVOKED, ErrorClass.REVOKED]);
  });

  it("match in the order of the init calls, and no other messages of the same tag", () => {
    const ranks = new TestRanks(2);
    const buffers = ranks.all((c) => c.alloc(96));
    const channels = [0, 32, 64].map((at) =>
      channel(
        ranks,
        buffers.map((buffer) => buffer + at),
        [1, 1],
        3,
      ),
    );
    const [sender, receiver] = ranks.programs as [TestProgram, TestProgram];
    sender.call("MPI_Send", sender.ints(-1), 1, INT, 1, 3, WORLD);
    for (const i of [2, 0, 1]) {
      sender.program.putList(buffers[0]! + 32 * i, [i]);
      sender.call("MPI_Start", channels[i]![0]!);
      sender.call("MPI_Pready", 0, sender.int(channels[i]![0]!));
    }
    for (const i of [0, 1, 2]) receiver.call("MPI_Start", channels[i]![1]!);
    ranks.all((c, rank) => {
      for (const requests of channels) c.call("MPI_Wait", requests[rank]!, 0);
    });
    deepEqual(
      [0, 1, 2].map((i) => receiver.int(buffers[1]! + 32 * i)),
      [0, 1, 2],
    );
    const into = receiver.alloc(4);
    receiver.call("MPI_Recv", into, 1, INT, 0, 3, WORLD, 0);
    equal(receiver.int(into), -1);
  });

  it("of a datatype with holes: a partition that has arrived can be read", () => {
    const ranks = new TestRanks(2);
    const [sender, receiver] = ranks.programs as [TestProgram, TestProgram];
    const calls = ranks.all((c, rank) => {
      const type = c.get("MPI_Type_vector", 2, 1, 2, INT);
      c.call("MPI_Type_commit", c.ints(type));
      const [buffer, request] = [c.alloc(24), c.alloc(4)];
      const args = [buffer, 2, 1n, type, 1 - rank, 0, WORLD, INFO_NULL, request] as const;
      c.call(rank === 0 ? "MPI_Psend_init" : "MPI_Precv_init", ...args);
      c.call("MPI_Start", request);
      return { buffer, request };
    });
    sender.program.putList(calls[0]!.buffer, [1, -1, 2, 3, -1, 4]);
    sender.call("MPI_Pready_range", 0, 1, sender.int(calls[0]!.request));
    sender.settle();
    equal(arrived(receiver, calls[1]!.request, 0), 1);
    deepEqual(receiver.list(calls[1]!.buffer, 6), [1, 0, 2, 3, 0, 4]);
    ranks.all((c, rank) => equal(c.call("MPI_Wait", calls[rank]!.request, 0), 0));
    equal(Math.max(...ranks.all((c) => c.end())), 0);
  });

  it("MPI_PROC_NULL, and what is refused", () => {
    const [c] = new TestRanks(1).programs;
    c!.call("MPI_Comm_set_errhandler", WORLD, ERRORS_RETURN);
    const request = c!.alloc(4);
    const make = (partitions: number, peer: number, tag = 0) =>
      c!.call("MPI_Psend_init", c!.alloc(64), partitions, 1n, INT, peer, tag, WORLD, INFO_NULL, request);
    equal(make(0, 0), ErrorClass.ARG);
    equal(make(1, 7), ErrorClass.RANK);
    equal(make(1, 0, -1), ErrorClass.TAG);
    equal(make(2, PROC_NULL), 0);
    const handle = c!.int(request);
    equal(c!.call("MPI_Pready", 0, handle), ErrorClass.ARG, "not started");
    c!.call("MPI_Start", request);
    equal(c!.call("MPI_Pready", 0, handle), 0);
    equal(c!.call("MPI_Pready", 0, handle), ErrorClass.ARG, "ready already");
    equal(c!.call("MPI_Pready", 2, handle), ErrorClass.ARG, "no such partition");
    equal(c!.call("MPI_Parrived", handle, 0, c!.alloc(4)), ErrorClass.REQUEST);
    equal(c!.call("MPI_Pready", 1, handle), 0);
    equal(c!.call("MPI_Wait", request, 0), 0);
  });
});
