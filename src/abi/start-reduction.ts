/** Starts of reductions: MPI 5.0 §6.9 to §6.11. */
import type { Pointer } from "../core/base/brand.ts";
import { PROC_NULL, ROOT } from "../core/base/constants.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { type Reduction, reductionFor } from "../core/process/reduction.ts";
import { checkCount, packedBytes } from "./buffers.ts";
import { type Given, isInPlace, isRoot, type Start } from "./collective-arguments.ts";
import type { CRequest } from "./objects.ts";
import type { Program } from "./program.ts";
import { Settle, Side } from "./side.ts";
import type { ProgramCall } from "./waiting.ts";

const nowhere = 0 as Pointer;

/** Where the operands of a reduction are, and how many of them. */
export interface Operands {
  readonly from: number;
  readonly into: number;
  readonly count: number;
  readonly type: number;
  readonly op: number;
}

/** An operation on a datatype: predefined ones are ours to do, the program's own are done by the program. */
export function reductionOf(program: Program, op: number, typeHandle: number): Reduction {
  const operation = program.operations.get(op);
  const type = program.committed(typeHandle);
  if (operation.function === 0) return reductionFor(operation.core, type);
  if (type.size === 0) throw new MpiError(ErrorClass.TYPE, "Cannot reduce elements of a datatype without data");
  const call: ProgramCall = { function: operation.function, type, handle: typeHandle };
  return { elementBytes: type.size, inMemory: false, apply() {}, call };
}

/** One side: as it lies in memory where the operation works on that, packed otherwise. */
export function operandSide(
  program: Program,
  reduction: Reduction,
  { address, count, type }: Given,
  load: boolean,
): Side {
  checkCount(count);
  const core = program.committed(type);
  if (!reduction.inMemory) return Side.of(program, { address, count, type: core }, load);
  packedBytes(core, count);
  return Side.at(address, count * reduction.elementBytes);
}

export function reduction(program: Program) {
  const { collectives } = program.process;
  type Kind = "reduce" | "allreduce" | "reduce_scatter_block" | "scan" | "exscan";

  /** Reduce, allreduce and scans: as many elements come out as go in. */
  const equal =
    (kind: Kind, { from, into, count, type, op }: Operands, root = 0): Start =>
    (request, tag) => {
      const { comm } = request;
      const { core } = comm;
      const hasResult = kind !== "reduce" || isRoot(comm, root);
      const inPlace = isInPlace(comm, from);
      if (inPlace && !hasResult) {
        throw new MpiError(ErrorClass.BUFFER, "Cannot reduce with MPI_IN_PLACE: only the root may");
      }
      if ((kind === "scan" || kind === "exscan") && core.isInter) {
        throw new MpiError(
          ErrorClass.COMM,
          `Cannot ${kind}: an inter-communicator has two groups, and no order of all`,
        );
      }
      const how = reductionOf(program, op, type);
      if (core.isInter && kind === "reduce" && root < 0)
        return interRoot(request, { into, count, type }, how, root, tag);
      const sent = inPlace ? Side.nothing : operandSide(program, how, { address: from, count, type }, true);
      const received = hasResult ? operandSide(program, how, { address: into, count, type }, inPlace) : Side.nothing;
      request.after = new Settle(sent, received);
      const call = { bytes: (inPlace ? received : sent).bytes, root, inPlace, tag };
      request.record = collectives.startReduction(core, kind, sent.pointer, received.pointer, call, how);
    };

  /** The root's group of an inter-communicator contributes nothing, and only the root gets anything. */
  function interRoot(
    request: CRequest,
    result: { into: number; count: number; type: number },
    how: Reduction,
    root: number,
    tag: number | undefined,
  ): void {
    const { core } = request.comm;
    const { into, count, type } = result;
    const received = root === ROOT ? operandSide(program, how, { address: into, count, type }, false) : Side.nothing;
    request.after = new Settle(Side.nothing, received);
    const bytes = root === PROC_NULL ? 0 : received.bytes;
    request.record = collectives.startReduction(core, "reduce", nowhere, received.pointer, { bytes, root, tag }, how);
  }

  /** `counts`: how many elements of the result each rank gets. */
  const reduceScatter =
    ({ from, into, type, op }: Omit<Operands, "count">, countsOf: (size: number) => readonly number[]): Start =>
    (request, tag) => {
      const { comm } = request;
      const { core } = comm;
      const counts = countsOf(core.size);
      for (const count of counts) checkCount(count);
      const total = counts.reduce((sum, count) => sum + count, 0);
      const inPlace = isInPlace(comm, from);
      const how = reductionOf(program, op, type);
      const sent = inPlace ? Side.nothing : operandSide(program, how, { address: from, count: total, type }, true);
      const own = inPlace ? total : counts[core.rank]!;
      const received = operandSide(program, how, { address: into, count: own, type }, inPlace);
      request.after = new Settle(sent, received);
      const { elementBytes } = how;
      const segments = counts.map((count) => count * elementBytes);
      const collective = { kind: "reduce_scatter", ...core.place, segments, elementBytes, inPlace } as const;
      request.record = collectives.start(core, collective, sent.pointer, received.pointer, how, tag);
    };

  return {
    reduce: (operands: Operands, root: number) => equal("reduce", operands, root),
    allreduce: (operands: Operands) => equal("allreduce", operands),
    scan: (operands: Operands) => equal("scan", operands),
    exscan: (operands: Operands) => equal("exscan", operands),
    reduceScatter: (operands: Omit<Operands, "count">, counts: number) =>
      reduceScatter(operands, (size) => program.list(counts, size)),
    reduceScatterBlock: ({ count, ...operands }: Operands) =>
      reduceScatter(operands, (size) => new Array<number>(size).fill(count)),
  };
}
