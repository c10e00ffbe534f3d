/** Operations of reductions: the predefined ones by name, and functions of the program (MPI 5.0 §6.9). */
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import type { Datatype } from "../core/comm/datatype/datatype.ts";
import type { Op } from "../core/comm/op/op.ts";
import { type OpName, predefinedOps } from "../core/comm/op/op-predefined.ts";
import { userOp } from "../core/comm/op/op-user.ts";
import { viewAs } from "./element-types.ts";

export type { Op } from "../core/comm/op/op.ts";

/** Those of one-sided communication, which no reduction takes. */
type OneSidedName = "REPLACE" | "NO_OP";

/** "sum", "max" …, or an operation: `mpi.SUM`, `mpi.createOp(…)`. */
export type OpLike = Lowercase<Exclude<OpName, OneSidedName>> | Op;

const oneSided: ReadonlySet<string> = new Set<OneSidedName>(["REPLACE", "NO_OP"]);
const ofReductions = Object.entries(predefinedOps).filter(([name]) => !oneSided.has(name));
const byName = new Map<unknown, Op>(ofReductions.map(([name, op]) => [name.toLowerCase(), op]));
const freed = new WeakSet<Op>();

export function opOf(op: OpLike): Op {
  const found = typeof op === "string" ? byName.get(op) : op;
  if (found === undefined || (found.kind !== "predefined" && found.kind !== "user")) {
    const names = [...byName.keys()].join(", ");
    throw new MpiError(
      ErrorClass.OP,
      `Cannot reduce with "${String(op)}": operations are ${names}, or made by createOp`,
    );
  }
  if (found.kind === "user" && freed.has(found)) {
    throw new MpiError(ErrorClass.OP, "Cannot reduce with the operation: it has been freed");
  }
  return found;
}

/**
 * inoutvec = invec ∘ inoutvec, element by element; `invec` comes from the lower ranks. Arrays of numbers come as typed arrays
 * of their kind, elements of mixed kinds as bytes, laid out as `type` says.
 */
export type OpFunction<T extends ArrayBufferView> = (invec: T, inoutvec: T, count: number, type: Datatype) => void;

export interface OpOptions {
  /** May operands change places? True unless given. Results do not depend on it here: ranks are always combined in order. */
  readonly commutative?: boolean;
}

export function createOp<T extends ArrayBufferView>(call: OpFunction<T>, { commutative = true }: OpOptions = {}): Op {
  return userOp((invec, inoutvec, count, type) => {
    const [left, right] = [viewAs(aligned(invec), type), aligned(inoutvec)];
    call(left as T, viewAs(right, type) as T, count, type);
    if (right !== inoutvec) inoutvec.set(right);
  }, commutative);
}

/** Operands come from anywhere in memory; typed arrays want their own alignment. */
function aligned(bytes: Uint8Array): Uint8Array {
  return (bytes.byteOffset & 7) === 0 ? bytes : bytes.slice();
}

/** The program will not use the operation again; reductions under way go on with it. */
export function freeOp(op: Op): void {
  if (op.kind === "predefined") {
    throw new MpiError(
      ErrorClass.OP,
      `Cannot free MPI_${op.name}: it is predefined, only made operations can be freed`,
    );
  }
  freed.add(op);
}
