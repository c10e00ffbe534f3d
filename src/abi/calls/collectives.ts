/**
 * Collectives: MPI 5.0 chapter 6. Every one is a start (start-movement.ts, start-reduction.ts) that leaves a request: the
 * blocking form waits for it, the non-blocking one hands it out, the persistent one starts it again and again.
 */
import type { Start } from "../collectives/collective-arguments.ts";
import { collectiveForms } from "../collectives/collective-forms.ts";
import { movement } from "../collectives/start-movement.ts";
import { reduction } from "../collectives/start-reduction.ts";
import type { CCommunicator } from "../handles/objects.ts";
import type { Program } from "../program.ts";

type Call = (...args: number[]) => number;

export function collectiveCalls(program: Program): Record<string, Call> {
  const move = movement(program);
  const reduce = reduction(program);

  const forms = (name: string, parameters: number, start: (comm: CCommunicator, ...args: number[]) => Start) =>
    collectiveForms(program, name, parameters, start);

  const given = (address: number, count: number, type: number) => ({ address, count, type });
  const layout = (counts: number, displacements: number) => ({ counts, displacements });
  const typed = (address: number, counts: number, displacements: number, types: number) => ({
    address,
    counts,
    displacements,
    types,
  });
  const operands = (from: number, into: number, count: number, type: number, op: number) => ({
    from,
    into,
    count,
    type,
    op,
  });

  return {
    ...forms("Barrier", 0, () => move.barrier()),
    ...forms("Bcast", 4, (comm, b, n, t, root) => move.bcast(comm, given(b!, n!, t!), root!)),
    ...forms("Gather", 7, (comm, b, n, t, c, m, u, root) =>
      move.gather(comm, given(b!, n!, t!), given(c!, m!, u!), root!),
    ),
    ...forms("Gatherv", 8, (comm, b, n, t, c, counts, offsets, u, root) =>
      move.gatherv(comm, given(b!, n!, t!), given(c!, 0, u!), layout(counts!, offsets!), root!),
    ),
    ...forms("Scatter", 7, (comm, b, n, t, c, m, u, root) =>
      move.scatter(comm, given(b!, n!, t!), given(c!, m!, u!), root!),
    ),
    ...forms("Scatterv", 8, (comm, b, counts, offsets, t, c, m, u, root) =>
      move.scatterv(comm, given(b!, 0, t!), layout(counts!, offsets!), given(c!, m!, u!), root!),
    ),
    ...forms("Allgather", 6, (comm, b, n, t, c, m, u) => move.allgather(comm, given(b!, n!, t!), given(c!, m!, u!))),
    ...forms("Allgatherv", 7, (comm, b, n, t, c, counts, offsets, u) =>
      move.allgatherv(comm, given(b!, n!, t!), given(c!, 0, u!), layout(counts!, offsets!)),
    ),
    ...forms("Alltoall", 6, (comm, b, n, t, c, m, u) => move.alltoall(comm, given(b!, n!, t!), given(c!, m!, u!))),
    ...forms("Alltoallv", 8, (comm, b, counts, offsets, t, c, counts2, offsets2, u) =>
      move.alltoallv(comm, given(b!, 0, t!), layout(counts!, offsets!), given(c!, 0, u!), layout(counts2!, offsets2!)),
    ),
    ...forms("Alltoallw", 8, (comm, b, counts, offsets, types, c, counts2, offsets2, types2) =>
      move.alltoallw(comm, typed(b!, counts!, offsets!, types!), typed(c!, counts2!, offsets2!, types2!)),
    ),
    ...forms("Reduce", 6, (comm, b, c, n, t, op, root) => reduce.reduce(comm, operands(b!, c!, n!, t!, op!), root!)),
    ...forms("Allreduce", 5, (comm, b, c, n, t, op) => reduce.allreduce(comm, operands(b!, c!, n!, t!, op!))),
    ...forms("Scan", 5, (comm, b, c, n, t, op) => reduce.scan(comm, operands(b!, c!, n!, t!, op!))),
    ...forms("Exscan", 5, (comm, b, c, n, t, op) => reduce.exscan(comm, operands(b!, c!, n!, t!, op!))),
    ...forms("Reduce_scatter", 5, (comm, b, c, counts, t, op) =>
      reduce.reduceScatter(comm, { from: b!, into: c!, type: t!, op: op! }, counts!),
    ),
    ...forms("Reduce_scatter_block", 5, (comm, b, c, n, t, op) =>
      reduce.reduceScatterBlock(comm, operands(b!, c!, n!, t!, op!)),
    ),
  };
}
