/** Starts of reductions: MPI 5.0 §6.9 to §6.11. What comes before a start is done once. */
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { saves } from "../core/base/saved-classes.ts";
import { type Reduction, reductionFor } from "../core/process/reduction.ts";
import { checkCount, packedBytes } from "./buffers.ts";
import { isInPlace, isRoot, type Start } from "./collective-arguments.ts";
import { holdType, LetGo } from "./held-types.ts";
import type { CCommunicator, CDatatype, CRequest } from "./objects.ts";
import type { Program } from "./program.ts";
import { type Items, Settle, Side } from "./side.ts";
import type { ProgramCall } from "./waiting.ts";

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
  return new ProgramReduction(call);
}

/** By one of the program's operations: nothing is done here, `Collectives.asked` says when the program must be called. */
class ProgramReduction implements Reduction {
  readonly elementBytes: number;
  readonly inMemory = false;
  readonly call: ProgramCall;

  constructor(call: ProgramCall) {
    this.elementBytes = call.type.size;
    this.call = call;
  }

  apply(): void {}
}

/** One side: as it lies in memory where the operation works on that, packed otherwise. */
function operandSide(program: Program, reduction: Reduction, items: Items | null, load: boolean): Side {
  if (items === null || !reduction.inMemory) return Side.of(program, items, load);
  packedBytes(items.type, items.count);
  return Side.at(items.address, items.count * reduction.elementBytes);
}

export function reduction(program: Program) {
  const { collectives } = program.process;
  type Kind = "reduce" | "allreduce" | "reduce_scatter_block" | "scan" | "exscan";

  /** What is left to do afterwards, and the operation as this start does it: its datatype has a handle until the end. */
  function hold(request: CRequest, type: CDatatype, how: Reduction, settle: Settle): Reduction {
    if (how.call === undefined) {
      request.after = settle;
      return how;
    }
    request.after = new LetGo(type, settle);
    return new ProgramReduction({ ...(how.call as ProgramCall), handle: holdType(program, type) });
  }

  /** Reduce, allreduce and scans: as many elements come out as go in. */
  function equal(comm: CCommunicator, kind: Kind, operands: Operands, root = 0): Start {
    const { core } = comm;
    const { from, into, count, op } = operands;
    const hasResult = kind !== "reduce" || isRoot(comm, root);
    const inPlace = isInPlace(comm, from);
    if (inPlace && !hasResult) {
      throw new MpiError(ErrorClass.BUFFER, "Cannot reduce with MPI_IN_PLACE: only the root may");
    }
    if ((kind === "scan" || kind === "exscan") && core.isInter) {
      throw new MpiError(ErrorClass.COMM, `Cannot ${kind}: an inter-communicator has two groups, and no order of all`);
    }
    const how = reductionOf(program, op, operands.type);
    const type = program.types.get(operands.type);
    checkCount(count);
    // The root's group of an inter-communicator contributes nothing, and only the root gets anything.
    const sends = !inPlace && !(core.isInter && kind === "reduce" && root < 0);
    const left = sends ? { address: from, count, type: type.core } : null;
    const result = hasResult ? { address: into, count, type: type.core } : null;
    return (request, tag) => {
      const sent = operandSide(program, how, left, true);
      const received = operandSide(program, how, result, inPlace);
      const held = hold(request, type, how, new Settle(sent, received));
      const call = { bytes: (sends ? sent : received).bytes, root, inPlace, tag };
      request.record = collectives.startReduction(core, kind, sent.pointer, received.pointer, call, held);
    };
  }

  /** `counts`: how many elements of the result each rank gets. */
  function reduceScatter(comm: CCommunicator, operands: Omit<Operands, "count">, counts: readonly number[]): Start {
    const { core } = comm;
    const { from, into, op } = operands;
    for (const count of counts) checkCount(count);
    const total = counts.reduce((sum, count) => sum + count, 0);
    const inPlace = isInPlace(comm, from);
    const how = reductionOf(program, op, operands.type);
    const type = program.types.get(operands.type);
    const own = inPlace ? total : counts[core.rank]!;
    const left = inPlace ? null : { address: from, count: total, type: type.core };
    const result = { address: into, count: own, type: type.core };
    const { elementBytes } = how;
    const segments = counts.map((count) => count * elementBytes);
    const collective = { kind: "reduce_scatter", ...core.place, segments, elementBytes, inPlace } as const;
    return (request, tag) => {
      const sent = operandSide(program, how, left, true);
      const received = operandSide(program, how, result, inPlace);
      const held = hold(request, type, how, new Settle(sent, received));
      request.record = collectives.start(core, collective, sent.pointer, received.pointer, held, tag);
    };
  }

  return {
    reduce: (comm: CCommunicator, operands: Operands, root: number) => equal(comm, "reduce", operands, root),
    allreduce: (comm: CCommunicator, operands: Operands) => equal(comm, "allreduce", operands),
    scan: (comm: CCommunicator, operands: Operands) => equal(comm, "scan", operands),
    exscan: (comm: CCommunicator, operands: Operands) => equal(comm, "exscan", operands),
    reduceScatter: (comm: CCommunicator, operands: Omit<Operands, "count">, counts: number) =>
      reduceScatter(comm, operands, program.list(counts, comm.core.size)),
    reduceScatterBlock: (comm: CCommunicator, { count, ...operands }: Operands) =>
      reduceScatter(comm, operands, new Array<number>(comm.core.size).fill(count)),
  };
}

saves({ ProgramReduction });
