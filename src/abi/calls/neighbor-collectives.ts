/** Collectives among the neighbours of a topology: MPI 5.0 §8.6 to §8.8. */
import { given, givenBlocks, givenParts } from "../collectives/collective-arguments.ts";
import { type CollectiveTable, collectiveCallsOf } from "../collectives/collective-forms.ts";
import { neighborMovements as move } from "../collectives/start-movement.ts";
import type { Program } from "../program.ts";

const table: CollectiveTable = [
  [
    "Neighbor_allgather",
    6,
    (program, comm, b, n, t, c, m, u) => move.allgather(program, comm, given(b, n, t), given(c, m, u)),
  ],
  [
    "Neighbor_allgatherv",
    7,
    (program, comm, b, n, t, c, counts, offsets, u) =>
      move.allgatherv(program, comm, given(b, n, t), givenBlocks(c, counts, offsets, u)),
  ],
  [
    "Neighbor_alltoall",
    6,
    (program, comm, b, n, t, c, m, u) => move.alltoall(program, comm, given(b, n, t), given(c, m, u)),
  ],
  [
    "Neighbor_alltoallv",
    8,
    (program, comm, b, counts, offsets, t, c, counts2, offsets2, u) =>
      move.alltoallv(program, comm, givenBlocks(b, counts, offsets, t), givenBlocks(c, counts2, offsets2, u)),
  ],
  [
    "Neighbor_alltoallw",
    8,
    (program, comm, b, counts, offsets, types, c, counts2, offsets2, types2) =>
      move.alltoallv(program, comm, givenParts(b, counts, offsets, types), givenParts(c, counts2, offsets2, types2)),
  ],
];

export const neighborCalls = (program: Program) => collectiveCallsOf(program, table);
