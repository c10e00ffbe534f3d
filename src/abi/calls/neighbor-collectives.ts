/** Collectives among the neighbours of a topology: MPI 5.0 §8.6 to §8.8. */
import { collectiveForms } from "../collectives/collective-forms.ts";
import { neighborStarts } from "../collectives/start-neighbor.ts";
import type { Program } from "../program.ts";

export function neighborCalls(program: Program) {
  const start = neighborStarts(program);
  const given = (address: number, count: number, type: number) => ({ address, count, type });
  const layout = (counts: number, displacements: number) => ({ counts, displacements });
  const typed = (address: number, counts: number, displacements: number, types: number) => ({
    address,
    counts,
    displacements,
    types,
  });

  return {
    ...collectiveForms(program, "Neighbor_allgather", 6, (comm, b, n, t, c, m, u) =>
      start.allgather(comm, given(b!, n!, t!), given(c!, m!, u!)),
    ),
    ...collectiveForms(program, "Neighbor_allgatherv", 7, (comm, b, n, t, c, counts, offsets, u) =>
      start.allgatherv(comm, given(b!, n!, t!), given(c!, 0, u!), layout(counts!, offsets!)),
    ),
    ...collectiveForms(program, "Neighbor_alltoall", 6, (comm, b, n, t, c, m, u) =>
      start.alltoall(comm, given(b!, n!, t!), given(c!, m!, u!)),
    ),
    ...collectiveForms(program, "Neighbor_alltoallv", 8, (comm, b, counts, offsets, t, c, counts2, offsets2, u) =>
      start.alltoallv(comm, given(b!, 0, t!), layout(counts!, offsets!), given(c!, 0, u!), layout(counts2!, offsets2!)),
    ),
    ...collectiveForms(
      program,
      "Neighbor_alltoallw",
      8,
      (comm, b, counts, offsets, types, c, counts2, offsets2, types2) =>
        start.alltoallw(comm, typed(b!, counts!, offsets!, types!), typed(c!, counts2!, offsets2!, types2!)),
    ),
  };
}
