/**
 * Collectives: MPI 5.0 chapter 6. Every one is a start (start-movement.ts, start-reduction.ts) that leaves a request: the
 * blocking form waits for it, the non-blocking one hands it out, the persistent one starts it again and again.
 */
import { given, givenBlocks, givenParts } from "../collectives/collective-arguments.ts";
import { type CollectiveTable, collectiveCallsOf } from "../collectives/collective-forms.ts";
import { movements as move } from "../collectives/start-movement.ts";
import { operands, reductions as reduce } from "../collectives/start-reduction.ts";
import type { Program } from "../program.ts";

const table: CollectiveTable = [
  ["Barrier", 0, () => move.barrier()],
  ["Bcast", 4, (program, comm, b, n, t, root) => move.bcast(program, comm, given(b, n, t), root)],
  [
    "Gather",
    7,
    (program, comm, b, n, t, c, m, u, root) => move.gather(program, comm, given(b, n, t), given(c, m, u), root),
  ],
  [
    "Gatherv",
    8,
    (program, comm, b, n, t, c, counts, offsets, u, root) =>
      move.gatherv(program, comm, given(b, n, t), givenBlocks(c, counts, offsets, u), root),
  ],
  [
    "Scatter",
    7,
    (program, comm, b, n, t, c, m, u, root) => move.scatter(program, comm, given(c, m, u), given(b, n, t), root),
  ],
  [
    "Scatterv",
    8,
    (program, comm, b, counts, offsets, t, c, m, u, root) =>
      move.scatterv(program, comm, given(c, m, u), givenBlocks(b, counts, offsets, t), root),
  ],
  ["Allgather", 6, (program, comm, b, n, t, c, m, u) => move.allgather(program, comm, given(b, n, t), given(c, m, u))],
  [
    "Allgatherv",
    7,
    (program, comm, b, n, t, c, counts, offsets, u) =>
      move.allgatherv(program, comm, given(b, n, t), givenBlocks(c, counts, offsets, u)),
  ],
  ["Alltoall", 6, (program, comm, b, n, t, c, m, u) => move.alltoall(program, comm, given(b, n, t), given(c, m, u))],
  [
    "Alltoallv",
    8,
    (program, comm, b, counts, offsets, t, c, counts2, offsets2, u) =>
      move.alltoallv(program, comm, givenBlocks(b, counts, offsets, t), givenBlocks(c, counts2, offsets2, u)),
  ],
  [
    "Alltoallw",
    8,
    (program, comm, b, counts, offsets, types, c, counts2, offsets2, types2) =>
      move.alltoallv(program, comm, givenParts(b, counts, offsets, types), givenParts(c, counts2, offsets2, types2)),
  ],
  ["Reduce", 6, (program, comm, b, c, n, t, op, root) => reduce.reduce(program, comm, operands(b, c, n, t, op), root)],
  ["Allreduce", 5, (program, comm, b, c, n, t, op) => reduce.allreduce(program, comm, operands(b, c, n, t, op))],
  ["Scan", 5, (program, comm, b, c, n, t, op) => reduce.scan(program, comm, operands(b, c, n, t, op))],
  ["Exscan", 5, (program, comm, b, c, n, t, op) => reduce.exscan(program, comm, operands(b, c, n, t, op))],
  [
    "Reduce_scatter",
    5,
    (program, comm, b, c, counts, t, op) =>
      reduce.reduceScatter(program, comm, operands(b, c, 0, t, op), program.list(counts, comm.core.size)),
  ],
  [
    "Reduce_scatter_block",
    5,
    (program, comm, b, c, n, t, op) => reduce.reduceScatterBlock(program, comm, operands(b, c, n, t, op)),
  ],
];

export const collectiveCalls = (program: Program) => collectiveCallsOf(program, table);
