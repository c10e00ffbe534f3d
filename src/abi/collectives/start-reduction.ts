/** Starts of reductions: MPI 5.0 §6.9 to §6.11. Which operands a rank has is decided in core/binding/reduction-arguments.ts. */

import type { Pointer } from "../../core/base/brand.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { checkCount } from "../../core/binding/checks.ts";
import { Side } from "../../core/binding/collective-side.ts";
import {
  beginReduction,
  operandRoles,
  type ReductionCall,
  resultCount,
  totalOf,
} from "../../core/binding/reduction-arguments.ts";
import type { Datatype } from "../../core/comm/datatype/datatype.ts";
import type { CollectiveForm } from "../../core/process/collective-form.ts";
import { type Reduction, reductionFor } from "../../core/process/reduction.ts";
import { checkApart, checkBytes } from "../arguments/buffers.ts";
import { holdType, LetGo } from "../handles/datatypes-in-use.ts";
import type { CCommunicator, CDatatype, CRequest } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import type { ProgramCall } from "../waiting/waiting.ts";
import { MPI_IN_PLACE, type Start } from "./collective-arguments.ts";
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

/** A reduction, its operands from here, the result to here. */
interface Reducing {
  readonly call: ReductionCall;
  readonly how: Reduction;
  readonly type: CDatatype;
  readonly from: CItems | null;
  readonly to: CItems | null;
  readonly inPlace: boolean;
}

class Reduce implements Start {
  private readonly reducing: Reducing;

  constructor(reducing: Reducing) {
    this.reducing = reducing;
  }

  begin(program: Program, request: CRequest, form: CollectiveForm): void {
    const { call, how, type, from, to, inPlace } = this.reducing;
    const sent = operandSide(program, how, from, true);
    const received = operandSide(program, how, to, inPlace);
    const reduction = hold(program, request, type, how, new Settle(sent, received));
    const { bytes } = from === null ? received : sent;
    const placed = { send: sent.pointer, receive: received.pointer, bytes, reduction, inPlace };
    request.record = beginReduction(program.operations, request.comm.core, call, placed, form);
  }
}

/** MPI_BOTTOM is no buffer. */
function checkOperands(program: Program, from: CItems | null, to: CItems | null): void {
  if (from === null || to === null || from.address === 0 || from.count === 0 || from.type.size === 0) return;
  checkApart(program, from.address, to.address);
}

/** The datatype and the operation are read on ranks without operands too. */
function reduce(program: Program, comm: CCommunicator, call: ReductionCall, arguments_: Operands): Start {
  const { input, hasResult, inPlace } = operandRoles(comm, call, arguments_.from === MPI_IN_PLACE);
  const how = reductionOf(program, arguments_.op, arguments_.type);
  const type = program.types.get(arguments_.type);
  const { count } = arguments_;
  checkCount(count);
  const inputAt = input === "sent" ? arguments_.from : arguments_.into;
  const from = input === null || inPlace ? null : operandsAt(program, how, inputAt, count, type.core);
  const received = inPlace ? count : resultCount(comm.core, call, count);
  const to = hasResult ? operandsAt(program, how, arguments_.into, received, type.core) : null;
  checkOperands(program, from, to);
  return new Reduce({ call, how, type, from, to, inPlace });
}

/** `count` of the arguments: elements that every rank contributes. */
export const reductions = {
  reduce: (program: Program, comm: CCommunicator, arguments_: Operands, root: number): Start =>
    reduce(program, comm, { kind: "reduce", root }, arguments_),
  allreduce: (program: Program, comm: CCommunicator, arguments_: Operands): Start =>
    reduce(program, comm, { kind: "allreduce" }, arguments_),
  scan: (program: Program, comm: CCommunicator, arguments_: Operands): Start =>
    reduce(program, comm, { kind: "scan" }, arguments_),
  exscan: (program: Program, comm: CCommunicator, arguments_: Operands): Start =>
    reduce(program, comm, { kind: "exscan" }, arguments_),
  /** `counts`: how many elements of the result each rank gets. */
  reduceScatter: (
    program: Program,
    comm: CCommunicator,
    arguments_: Omit<Operands, "count">,
    counts: readonly number[],
  ): Start => reduce(program, comm, { kind: "reduce_scatter", counts }, { ...arguments_, count: totalOf(counts) }),
  /** `count` of the arguments: elements of the result that each rank gets. */
  reduceScatterBlock(program: Program, comm: CCommunicator, arguments_: Operands): Start {
    checkCount(arguments_.count);
    const count = arguments_.count * comm.core.size;
    return reduce(program, comm, { kind: "reduce_scatter_block" }, { ...arguments_, count });
  },
};

saves({ ProgramReduction, Reduce });
