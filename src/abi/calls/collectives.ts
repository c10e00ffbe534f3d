/**
 * Collectives: MPI 5.0 chapter 6. Every one is a start (start-movement.ts, start-reduction.ts) that leaves a request: the
 * blocking form waits for it, the non-blocking one hands it out, the persistent one starts it again and again.
 */
import type { Start } from "../collective-arguments.ts";
import { collectiveForms } from "../collective-forms.ts";
import type { Program } from "../program.ts";
import { movement } from "../start-movement.ts";
import { reduction } from "../start-reduction.ts";

type Call = (...args: number[]) => number;

export function collectiveCalls(program: Program): Record<string, Call> {
  const move = movement(program);
  const reduce = reduction(program);

  const forms = (name: string, parameters: number, start: (...args: number[]) => Start) =>
    collectiveForms(program, name, parameters, start);

  const given = (address: number, count: number, type: number) => ({ address, count, type });
  const layout = (counts: number, displacements: number) => ({ counts, displacements });
  const operands = (from: number, into: number, count: number, type: number, op: number) => ({
    from,
    into,
    count,
    type,
    op,
  });

  return {
    ...forms("Barrier", 0, () => move.barrier()),
    ...forms("Bcast", 4, (b, n, t, root) => move.bcast(given(b!, n!, t!), root!)),
    ...forms("Gather", 7, (b, n, t, c, m, u, root) => move.gather(given(b!, n!, t!), given(c!, m!, u!), root!)),
    ...forms("Gatherv", 8, (b, n, t, c, counts, offsets, u, root) =>
      move.gatherv(given(b!, n!, t!), given(c!, 0, u!), layout(counts!, offsets!), root!),
    ),
    ...forms("Scatter", 7, (b, n, t, c, m, u, root) => move.scatter(given(b!, n!, t!), given(c!, m!, u!), root!)),
    ...forms("Scatterv", 8, (b, counts, offsets, t, c, m, u, root) =>
      move.scatterv(given(b!, 0, t!), layout(counts!, offsets!), given(c!, m!, u!), root!),
    ),
    ...forms("Allgather", 6, (b, n, t, c, m, u) => move.allgather(given(b!, n!, t!), given(c!, m!, u!))),
    ...forms("Allgatherv", 7, (b, n, t, c, counts, offsets, u) =>
      move.allgatherv(given(b!, n!, t!), given(c!, 0, u!), layout(counts!, offsets!)),
    ),
    ...forms("Alltoall", 6, (b, n, t, c, m, u) => move.alltoall(given(b!, n!, t!), given(c!, m!, u!))),
    ...forms("Alltoallv", 8, (b, counts, offsets, t, c, counts2, offsets2, u) =>
      move.alltoallv(given(b!, 0, t!), layout(counts!, offsets!), given(c!, 0, u!), layout(counts2!, offsets2!)),
    ),
    ...forms("Alltoallw", 8, (b, counts, offsets, types, c, counts2, offsets2, types2) =>
      move.alltoallw(b!, layout(counts!, offsets!), types!, c!, layout(counts2!, offsets2!), types2!),
    ),
    ...forms("Reduce", 6, (b, c, n, t, op, root) => reduce.reduce(operands(b!, c!, n!, t!, op!), root!)),
    ...forms("Allreduce", 5, (b, c, n, t, op) => reduce.allreduce(operands(b!, c!, n!, t!, op!))),
    ...forms("Scan", 5, (b, c, n, t, op) => reduce.scan(operands(b!, c!, n!, t!, op!))),
    ...forms("Exscan", 5, (b, c, n, t, op) => reduce.exscan(operands(b!, c!, n!, t!, op!))),
    ...forms("Reduce_scatter", 5, (b, c, counts, t, op) =>
      reduce.reduceScatter({ from: b!, into: c!, type: t!, op: op! }, counts!),
    ),
    ...forms("Reduce_scatter_block", 5, (b, c, n, t, op) => reduce.reduceScatterBlock(operands(b!, c!, n!, t!, op!))),
  };
}
