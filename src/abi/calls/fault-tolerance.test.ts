/** ULFM's functions as C calls them, with a rank that the others are told is dead. */
import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import type { TestProgram } from "../testing/program.ts";
import { COMM_NULL, ERRORS_RETURN, INT, TestRanks, WORLD } from "../testing/ranks.ts";

const { ARG, PROC_FAILED, PROC_FAILED_PENDING, REVOKED } = ErrorClass;
const GROUP_EMPTY = 0x109;
const ANY_SOURCE = -1;
const dead = 1;

/** Four ranks, of which one is dead. */
function bereaved(): TestRanks {
  const ranks = new TestRanks(4, { nodes: 2 });
  for (const [rank, c] of ranks.programs.entries()) {
    c.call("MPI_Comm_set_errhandler", WORLD, ERRORS_RETURN);
    if (rank !== dead) c.program.process.peerFailed({ rank: dead, replica: 0 }, 0);
  }
  return ranks;
}

/** What the ranks that live get. */
function living<T>(ranks: TestRanks, act: (c: TestProgram, rank: number) => T): T[] {
  return ranks.all((c, rank) => (rank === dead ? null : act(c, rank))).filter((_, rank) => rank !== dead) as T[];
}

const ranksOf = (c: TestProgram, group: number): number[] =>
  group === GROUP_EMPTY ? [] : c.program.groups.get(group).worldRanks();

describe("ULFM who is dead", () => {
  it("is told, and acknowledged by either set of functions", () => {
    const [c, , other] = bereaved().programs as [TestProgram, TestProgram, TestProgram];
    deepEqual(ranksOf(c, c.get("MPIX_Comm_get_failed", WORLD)), [dead]);
    deepEqual(ranksOf(c, c.get("MPIX_Comm_failure_get_acked", WORLD)), []);
    const count = c.alloc(4);
    equal(c.call("MPIX_Comm_ack_failed", WORLD, 0, count), 0);
    equal(c.int(count), 0);
    equal(c.call("MPIX_Comm_ack_failed", WORLD, 3, count), 0);
    equal(c.int(count), 1);
    deepEqual(ranksOf(c, c.get("MPIX_Comm_failure_get_acked", WORLD)), [dead]);
    equal(c.call("MPIX_Comm_ack_failed", WORLD, -1, count), ARG);
    equal(other.call("MPIX_Comm_failure_ack", WORLD), 0);
    deepEqual(ranksOf(other, other.get("MPIX_Comm_failure_get_acked", WORLD)), [dead]);
  });

  it("keeps a program from receiving from anybody until it is acknowledged", () => {
    const [c, , other] = bereaved().programs as [TestProgram, TestProgram, TestProgram];
    const [value, flag] = [c.alloc(4), c.alloc(4)];
    equal(c.call("MPI_Recv", value, 1, INT, ANY_SOURCE, 5, WORLD, 0), PROC_FAILED);
    equal(c.call("MPI_Probe", ANY_SOURCE, 5, WORLD, 0), PROC_FAILED_PENDING);
    equal(c.call("MPI_Iprobe", dead, 5, WORLD, flag, 0), PROC_FAILED);
    equal(c.call("MPIX_Comm_failure_ack", WORLD), 0);
    equal(c.call("MPI_Iprobe", ANY_SOURCE, 5, WORLD, flag, 0), 0);
    equal(c.int(flag), 0);
    equal(other.call("MPI_Send", other.alloc(4), 1, INT, 0, 5, WORLD), 0);
    equal(c.call("MPI_Recv", value, 1, INT, ANY_SOURCE, 5, WORLD, 0), 0);
  });

  it("U1 leaves a request that was started from anybody pending: it is completed when that is acknowledged", () => {
    const [c, , other] = bereaved().programs as [TestProgram, TestProgram, TestProgram];
    const [value, requests, flag] = [c.alloc(4), c.ints(0, 0), c.alloc(4)];
    for (const [i, tag] of [5, 6].entries())
      equal(c.call("MPI_Irecv", value, 1, INT, ANY_SOURCE, tag, WORLD, requests + 4 * i), 0);
    const handle = c.int(requests);
    for (const call of [() => c.call("MPI_Wait", requests, 0), () => c.call("MPI_Test", requests, flag, 0)]) {
      equal(call(), PROC_FAILED_PENDING);
      equal(c.int(requests), handle);
    }
    equal(other.call("MPI_Send", other.ints(77), 1, INT, 0, 5, WORLD), 0);
    equal(c.call("MPI_Wait", requests, 0), PROC_FAILED_PENDING);
    equal(c.call("MPIX_Comm_failure_ack", WORLD), 0);
    equal(c.call("MPI_Wait", requests, 0), 0);
    equal(c.int(value), 77);
    // One that never comes can be cancelled, before the death is acknowledged and after.
    equal(c.call("MPI_Cancel", requests + 4), 0);
    equal(c.call("MPI_Wait", requests + 4, 0), 0);
    deepEqual([c.int(requests), c.int(requests + 4)], [0x180, 0x180]);
  });

  for (const [how, expected] of [
    ["is acknowledged", 0],
    ["is followed by a revocation", REVOKED],
  ] as const) {
    it(`U1 MPI_Isendrecv from anybody stays pending as a whole, until the death ${how}`, () => {
      const [c, , other] = bereaved().programs as [TestProgram, TestProgram, TestProgram];
      const [value, request, flag] = [c.alloc(4), c.ints(0), c.alloc(4)];
      const args = [c.ints(5), 1, INT, 2, 7, value, 1, INT, ANY_SOURCE, 5, WORLD, request] as const;
      equal(c.call("MPI_Isendrecv", ...args), 0);
      const handle = c.int(request);
      for (const call of [() => c.call("MPI_Wait", request, 0), () => c.call("MPI_Test", request, flag, 0)]) {
        equal(call(), PROC_FAILED_PENDING);
        equal(c.int(request), handle);
      }
      if (expected === 0) {
        equal(c.call("MPIX_Comm_failure_ack", WORLD), 0);
        equal(c.call("MPI_Test", request, flag, 0), 0);
        equal(c.int(flag), 0);
        equal(other.call("MPI_Send", other.ints(77), 1, INT, 0, 5, WORLD), 0);
      } else {
        equal(other.call("MPIX_Comm_revoke", WORLD), 0);
        c.settle();
      }
      equal(c.call("MPI_Wait", request, 0), expected);
      equal(c.int(request), 0x180);
      if (expected === 0) equal(c.int(value), 77);
    });
  }

  it("U1 §9.3.1 in MPI_Waitall the handler hears of the request's error, and the call says that it is in the statuses", () => {
    const [c] = bereaved().programs as [TestProgram];
    const seen: number[][] = [];
    const handler = c.function((comm, code) => {
      seen.push([c.int(comm!), c.int(code!)]);
      return undefined;
    });
    c.call("MPI_Comm_set_errhandler", WORLD, c.get("MPI_Comm_create_errhandler", handler));
    const [value, requests, statuses] = [c.alloc(4), c.ints(0x180, 0), c.alloc(64)];
    equal(c.call("MPI_Irecv", value, 1, INT, dead, 5, WORLD, requests + 4), 0);
    equal(c.call("MPI_Waitall", 2, requests, statuses), ErrorClass.IN_STATUS);
    deepEqual(seen, [[WORLD, PROC_FAILED]]);
    equal(c.int(requests + 4), 0x180);
  });

  it("U1 a pending receive is cancelled, or ended by a revocation", () => {
    const [c, , other] = bereaved().programs as [TestProgram, TestProgram, TestProgram];
    const [value, requests, status] = [c.alloc(4), c.ints(0, 0), c.alloc(32)];
    for (const i of [0, 1]) equal(c.call("MPI_Irecv", value, 1, INT, ANY_SOURCE, 5, WORLD, requests + 4 * i), 0);
    equal(c.call("MPI_Wait", requests, 0), PROC_FAILED_PENDING);
    equal(c.call("MPI_Cancel", requests), 0);
    equal(c.call("MPI_Wait", requests, status), 0);
    equal(c.get("MPI_Test_cancelled", status), 1);
    equal(other.call("MPIX_Comm_revoke", WORLD), 0);
    c.settle();
    equal(c.call("MPI_Wait", requests + 4, 0), REVOKED);
  });
});

describe("ULFM a death after MPI_Comm_free", () => {
  it("U1 is told by a receive from anybody that is still under way there", () => {
    const ranks = new TestRanks(3);
    for (const each of ranks.programs) each.call("MPI_Comm_set_errhandler", WORLD, ERRORS_RETURN);
    const comms = ranks.get("MPI_Comm_dup", () => [WORLD]);
    const [c] = ranks.programs as [TestProgram];
    const [value, request, flag] = [c.alloc(4), c.alloc(4), c.alloc(4)];
    equal(c.call("MPI_Irecv", value, 1, INT, ANY_SOURCE, 5, comms[0]!, request), 0);
    equal(c.call("MPI_Comm_free", c.ints(comms[0]!)), 0);
    equal(c.call("MPI_Test", request, flag, 0), 0);
    equal(c.int(flag), 0);
    c.program.process.peerFailed({ rank: dead, replica: 0 }, 0);
    equal(c.call("MPI_Test", request, flag, 0), PROC_FAILED_PENDING);
    equal(c.call("MPI_Wait", request, 0), PROC_FAILED_PENDING);
    equal(c.call("MPI_Cancel", request), 0);
    equal(c.call("MPI_Wait", request, 0), 0);
  });
});

describe("ULFM agreement and shrinking among those who live", () => {
  it("agree: the flags of all of them, with PROC_FAILED until all have acknowledged", () => {
    const ranks = bereaved();
    const agree = (): number[][] =>
      living(ranks, (c, rank) => {
        const flags = c.alloc(4);
        c.program.ints[flags >> 2] = ~(1 << rank);
        return [c.call("MPIX_Comm_agree", WORLD, flags), c.int(flags)];
      });
    const all = ~0b1101;
    deepEqual(agree(), new Array(3).fill([PROC_FAILED, all]));
    ranks.programs[0]!.call("MPIX_Comm_failure_ack", WORLD);
    deepEqual(agree(), new Array(3).fill([PROC_FAILED, all]));
    for (const c of ranks.programs) c.call("MPIX_Comm_failure_ack", WORLD);
    deepEqual(agree(), new Array(3).fill([0, all]));
  });

  it("iagree: the error is the request's, the flags count all the same", () => {
    const ranks = bereaved();
    const answers = living(ranks, (c) => {
      const [flags, request] = [c.alloc(4), c.alloc(4)];
      c.program.ints[flags >> 2] = 6;
      equal(c.call("MPIX_Comm_iagree", WORLD, flags, request), 0);
      return [c.call("MPI_Wait", request, 0), c.int(flags)];
    });
    deepEqual(answers, new Array(3).fill([PROC_FAILED, 6]));
  });

  it("shrink, ishrink: without the dead, also of a revoked communicator; the error handler is inherited", () => {
    const ranks = bereaved();
    equal(ranks.programs[2]!.call("MPIX_Comm_revoke", WORLD), 0);
    const made = living(ranks, (c) => {
      const comm = c.alloc(4);
      equal(c.call("MPIX_Comm_shrink", WORLD, comm), 0);
      return c.int(comm);
    });
    const later = living(ranks, (c) => {
      const [comm, request] = [c.alloc(4), c.alloc(4)];
      equal(c.call("MPIX_Comm_ishrink", WORLD, comm, request), 0);
      equal(c.call("MPI_Wait", request, 0), 0);
      return c.int(comm);
    });
    for (const handles of [made, later]) {
      const alive = ranks.programs.filter((_, rank) => rank !== dead);
      for (const [rank, c] of alive.entries()) {
        equal(c.get("MPI_Comm_size", handles[rank]!), 3);
        equal(c.get("MPI_Comm_rank", handles[rank]!), rank);
        equal(c.get("MPI_Comm_get_errhandler", handles[rank]!), ERRORS_RETURN);
        deepEqual(ranksOf(c, c.get("MPIX_Comm_get_failed", handles[rank]!)), []);
      }
    }
    deepEqual(
      living(ranks, (c, rank) => c.call("MPI_Barrier", made[rank > dead ? rank - 1 : rank]!)),
      [0, 0, 0],
    );
  });
});

describe("ULFM revoke", () => {
  it("is heard of, and what is called then says so; a new communicator is not made", () => {
    const ranks = new TestRanks(3);
    for (const c of ranks.programs) c.call("MPI_Comm_set_errhandler", WORLD, ERRORS_RETURN);
    deepEqual(
      ranks.programs.map((c) => c.get("MPIX_Comm_is_revoked", WORLD)),
      [0, 0, 0],
    );
    equal(ranks.programs[1]!.call("MPIX_Comm_revoke", WORLD), 0);
    ranks.programs[0]!.settle();
    deepEqual(
      ranks.programs.map((c) => c.get("MPIX_Comm_is_revoked", WORLD)),
      [1, 1, 1],
    );
    for (const c of ranks.programs) {
      const out = c.alloc(4);
      equal(c.call("MPI_Barrier", WORLD), REVOKED);
      equal(c.call("MPI_Comm_dup", WORLD, out), REVOKED);
      equal(c.int(out), COMM_NULL);
    }
  });

  for (const end of ["MPI_Comm_free", "MPI_Comm_disconnect"]) {
    it(`ends what is under way on a communicator that is gone here: ${end}`, () => {
      const ranks = new TestRanks(3);
      for (const c of ranks.programs) c.call("MPI_Comm_set_errhandler", WORLD, ERRORS_RETURN);
      const comms = ranks.get("MPI_Comm_dup", () => [WORLD]);
      const [c, other] = ranks.programs as [TestProgram, TestProgram];
      const [copy, request] = [c.alloc(4), c.alloc(4)];
      equal(c.call("MPI_Comm_idup", comms[0]!, copy, request), 0);
      equal(other.call("MPIX_Comm_revoke", comms[1]!), 0);
      equal(c.call(end, c.ints(comms[0]!)), 0);
      equal(c.call("MPI_Wait", request, 0), REVOKED);
      equal(c.int(copy), COMM_NULL);
    });
  }
});
