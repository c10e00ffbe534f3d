/** Starts of reductions: MPI 5.0 §6.9 to §6.11. */
import type { Pointer } from "../../core/base/brand.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { checkCount, checkInPlace, checkScan, isRoot } from "../../core/binding/checks.ts";
import { Side } from "../../core/binding/collective-side.ts";
import type { Datatype } from "../../core/comm/datatype/datatype.ts";
import { type Reduction, reductionFor } from "../../core/process/reduction.ts";
import { checkApart, checkBytes } from "../arguments/buffers.ts";
import { holdType, LetGo } from "../handles/datatypes-in-use.ts";
import type { CCommunicator, CDatatype, CRequest } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import type { ProgramCall } from "../waiting/waiting.ts";
import { IN_PLACE, type Start } from "./collective-arguments.ts";
import { type CItems, itemsAt, Settle } from "./collective-sides.ts";

/** Where the operands of a reduction are, and how many of them. */
export interface Operands {
  readonly from: number;
  readonly into: number;
  readonly count: number;
  readonly type: number;
  readonly op: number;
}

export const operands = (from: number, into: number, count: number, type: number, op: number): Operands => ({
  from,
  into,
  count,
  type,
  op,
});

/** An operation on a datatype: predefined ones are ours to do, the program's own are done by the program. */
export function reductionOf(program: Program, op: number, typeHandle: number): Reduction {
  const operation = program.ops.get(op);
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

/** Operands of a reduction. Where it works on them as they lie in memory, what is between two and behind the last belongs to them. */
export function operandsAt(program: Program, how: Reduction, address: number, count: number, type: Datatype): CItems {
  if (how.inMemory) checkBytes(program, address, address + count * how.elementBytes);
  return itemsAt(program, address, count, type);
}

/** One side: as it lies in memory where the operation works on that, packed otherwise. */
function operandSide(program: Program, reduction: Reduction, items: CItems | null, load: boolean): Side<CItems> {
  if (items === null || !reduction.inMemory) return Side.of(program.ground, items, load);
  const bytes = items.count * reduction.elementBytes;
  return Side.at((bytes === 0 ? 0 : items.address) as Pointer, bytes);
}

/** What is left to do afterwards, and the operation as this start does it: its datatype has a handle until the end. */
function hold(program: Program, request: CRequest, type: CDatatype, how: Reduction, settle: Settle): Reduction {
  if (how.call === undefined) {
    request.after = settle;
    return how;
  }
  request.after = new LetGo(type, settle);
  return new ProgramReduction({ ...(how.call as ProgramCall), handle: holdType(program, type) });
}

type Kind = "reduce" | "allreduce" | "reduce_scatter_block" | "scan" | "exscan";

/** What a reduction is about: operands from here, the result to here. */
interface Reducing {
  readonly how: Reduction;
  readonly type: CDatatype;
  readonly from: CItems | null;
  readonly to: CItems | null;
  readonly root: number;
  readonly inPlace: boolean;
}

class EqualReduction implements Start {
  private readonly kind: Kind;
  private readonly reducing: Reducing;

  constructor(kind: Kind, reducing: Reducing) {
    this.kind = kind;
    this.reducing = reducing;
  }

  begin(program: Program, request: CRequest, tag: number | undefined): void {
    const { how, type, from, to, root, inPlace } = this.reducing;
    const sent = operandSide(program, how, from, true);
    const received = operandSide(program, how, to, inPlace);
    const held = hold(program, request, type, how, new Settle(sent, received));
    const call = { bytes: (from === null ? received : sent).bytes, root, inPlace, tag };
    const { operations } = program;
    const { core } = request.comm;
    request.record = operations.startReduction(core, this.kind, sent.pointer, received.pointer, call, held);
  }
}

class ReduceScatter implements Start {
  private readonly reducing: Reducing;
  /** How many elements of the result each rank gets. */
  private readonly counts: readonly number[];

  constructor(reducing: Reducing, counts: readonly number[]) {
    this.reducing = reducing;
    this.counts = counts;
  }

  begin(program: Program, request: CRequest, tag: number | undefined): void {
    const { how, type, from, to, inPlace } = this.reducing;
    const { core } = request.comm;
    const sent = operandSide(program, how, from, true);
    const received = operandSide(program, how, to, inPlace);
    const held = hold(program, request, type, how, new Settle(sent, received));
    const { elementBytes } = how;
    const segments = this.counts.map((count) => count * elementBytes);
    const collective = { kind: "reduce_scatter", ...core.place, segments, elementBytes, inPlace } as const;
    const { operations } = program;
    request.record = operations.startBlocks(core, collective, sent.pointer, received.pointer, held, tag);
  }
}

function isInPlace(comm: CCommunicator, { from }: Operands): boolean {
  if (from !== IN_PLACE) return false;
  checkInPlace(comm, "reduce");
  return true;
}

/** MPI_BOTTOM is no buffer. */
function checkOperands(program: Program, from: CItems | null, to: CItems | null): void {
  if (from === null || to === null || from.address === 0 || from.count === 0 || from.type.size === 0) return;
  checkApart(program, from.address, to.address);
}

/** Reduce, allreduce and scans: as many elements come out as go in. */
function equal(program: Program, comm: CCommunicator, kind: Kind, arguments_: Operands, root = 0): Start {
  const { isInter } = comm.core;
  const { count, op } = arguments_;
  const hasResult = kind !== "reduce" || isRoot(comm, "reduce", root);
  const inPlace = isInPlace(comm, arguments_);
  if (inPlace && !hasResult) {
    throw new MpiError(ErrorClass.BUFFER, "Cannot reduce with MPI_IN_PLACE: only the root may");
  }
  if (kind === "scan" || kind === "exscan") checkScan(comm, kind);
  const how = reductionOf(program, op, arguments_.type);
  const type = program.types.get(arguments_.type);
  checkCount(count);
  // The root's group of an inter-communicator contributes nothing, and only the root gets anything.
  const sends = !inPlace && !(isInter && kind === "reduce" && root < 0);
  const from = sends ? operandsAt(program, how, arguments_.from, count, type.core) : null;
  const to = hasResult ? operandsAt(program, how, arguments_.into, count, type.core) : null;
  checkOperands(program, from, to);
  return new EqualReduction(kind, { how, type, from, to, root, inPlace });
}

/** `counts`: how many elements of the result each rank gets. */
function scatter(program: Program, comm: CCommunicator, arguments_: Operands, counts: readonly number[]): Start {
  for (const count of counts) checkCount(count);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const inPlace = isInPlace(comm, arguments_);
  const how = reductionOf(program, arguments_.op, arguments_.type);
  const type = program.types.get(arguments_.type);
  const from = inPlace ? null : operandsAt(program, how, arguments_.from, total, type.core);
  const received = inPlace ? total : counts[comm.core.rank]!;
  const to = operandsAt(program, how, arguments_.into, received, type.core);
  checkOperands(program, from, to);
  return new ReduceScatter({ how, type, from, to, root: 0, inPlace }, counts);
}

export const reductions = { equal, scatter };

saves({ ProgramReduction, EqualReduction, ReduceScatter });
