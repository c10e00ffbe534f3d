/**
 * Reductions made of the arguments of a call: the rules of MPI 5.0 §6.9 to §6.11 about roots, MPI_IN_PLACE and the operands that a
 * rank has. A face brings the operands into memory in which operations work: C's lie there, arrays of TypeScript are copied.
 */
import type { Pointer, RecordId } from "../base/brand.ts";
import { ErrorClass, MpiError } from "../base/mpi-error.ts";
import { sum } from "../coll/engine/rounds.ts";
import type { CollectiveForm, ReductionKind } from "../process/collective-form.ts";
import type { Communicator } from "../process/communicator.ts";
import type { Reduction } from "../process/reduction.ts";
import { checkCount, checkInPlace, checkScan, isRoot, type NamedCommunicator } from "./checks.ts";
import type { Operations } from "./operations.ts";

/** A reduction, and the arguments that all ranks give alike. Plain data. */
export type ReductionCall =
  | { readonly kind: "reduce"; readonly root: number }
  | { readonly kind: Exclude<ReductionKind, "reduce"> }
  /** `counts`: elements of the result, by rank. */
  | { readonly kind: "reduce_scatter"; readonly counts: readonly number[] };

/** The buffers that this rank has in a reduction. A buffer that it does not have is never read. */
export interface OperandRoles {
  /** The buffer with the elements that this rank contributes; null: it contributes none. */
  readonly input: "sent" | "result" | null;
  readonly hasResult: boolean;
  /** The result takes the place of the input. */
  readonly inPlace: boolean;
}

const rolesOf = (input: OperandRoles["input"], hasResult: boolean): OperandRoles => ({
  input,
  hasResult,
  inPlace: input === "result" && hasResult,
});
// All there are: a reduction is too short for an object more.
const usual = rolesOf("sent", true);
const inPlace = rolesOf("result", true);
const inputOnly = rolesOf("sent", false);
const inputInResult = rolesOf("result", false);
const resultOnly = rolesOf(null, true);
const neither = rolesOf(null, false);

/** MPI_Reduce_local's, whose result takes the place of its right operand. */
export const localRoles = { left: inputOnly, right: inPlace };

/** `isInPlace`: the call says MPI_IN_PLACE where it could give elements. */
export function operandRoles(comm: NamedCommunicator, call: ReductionCall, isInPlace: boolean): OperandRoles {
  const { core } = comm;
  if (call.kind === "reduce") {
    const atRoot = isRoot(comm, "reduce", call.root);
    // The root's group of an inter-communicator contributes nothing, and only the root gets anything.
    if (core.isInter && call.root < 0) return atRoot ? resultOnly : neither;
    if (!isInPlace) return atRoot ? usual : inputOnly;
    checkInPlace(comm, "reduce");
    if (atRoot) return inPlace;
    throw new MpiError(
      ErrorClass.BUFFER,
      "Cannot reduce in place: only the root may, this rank must send its elements",
    );
  }
  if (call.kind === "scan" || call.kind === "exscan") checkScan(comm, call.kind);
  if (isInPlace) checkInPlace(comm, "reduce");
  // No rank is before the first one: its result is no argument.
  if (call.kind === "exscan" && core.rank === 0) return isInPlace ? inputInResult : inputOnly;
  return isInPlace ? inPlace : usual;
}

/** How many elements of the result this rank gets, of `count` elements that every rank contributes. */
export function resultCount({ rank, size }: Communicator, call: ReductionCall, count: number): number {
  switch (call.kind) {
    case "reduce_scatter": {
      const total = totalOf(call.counts);
      if (count === total) return call.counts[rank]!;
      throw new MpiError(
        ErrorClass.COUNT,
        `Cannot share ${count} elements among the ranks: their counts add up to ${total} and must be as many`,
      );
    }
    case "reduce_scatter_block":
      if (count % size === 0) return count / size;
      throw new MpiError(
        ErrorClass.COUNT,
        `Cannot share ${count} elements among ${size} ranks: give a multiple of ${size}`,
      );
    default:
      return count;
  }
}

/** How many elements each rank of a reduce-scatter contributes. */
export function totalOf(counts: readonly number[]): number {
  for (const count of counts) checkCount(count);
  return sum(counts);
}

/** The operands of this rank where operations work on them. */
export interface PlacedOperands {
  readonly send: Pointer;
  readonly receive: Pointer;
  /** Of the elements that every rank contributes. */
  readonly bytes: number;
  readonly reduction: Reduction;
  readonly inPlace: boolean;
}

export function beginReduction(
  operations: Operations,
  comm: Communicator,
  call: ReductionCall,
  { send, receive, bytes, reduction, inPlace }: PlacedOperands,
  form: CollectiveForm,
): RecordId {
  if (call.kind === "reduce_scatter") {
    const { elementBytes } = reduction;
    const segments = call.counts.map((count) => count * elementBytes);
    const collective = { kind: call.kind, ...comm.place, segments, elementBytes, inPlace };
    return operations.startBlocks(comm, collective, send, receive, reduction, form);
  }
  const root = call.kind === "reduce" ? call.root : 0;
  const blockBytes = call.kind === "reduce_scatter_block" ? bytes / comm.size : bytes;
  return operations.startReduction(
    comm,
    call.kind,
    send,
    receive,
    { bytes: blockBytes, root, inPlace, form },
    reduction,
  );
}
