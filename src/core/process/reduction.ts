/** An operation on a datatype, as collectives see it: bytes in, bytes out. */
import { ErrorClass, MpiError } from "../base/mpi-error.ts";
import { saves } from "../base/saved-classes.ts";
import type { Datatype } from "../comm/datatype/datatype.ts";
import { pack, unpack } from "../comm/datatype/pack.ts";
import type { Views } from "../comm/datatype/views.ts";
import { type Combine, kernelFor, type Op } from "../comm/op/op.ts";
import type { UserOp } from "../comm/op/op-user.ts";

export interface Reduction {
  /** Elements are never split; a reduction of n bytes is one of n / elementBytes elements. */
  readonly elementBytes: number;
  /** Are elements what lies in memory, one extent apart? Otherwise they are packed. */
  readonly inMemory: boolean;
  /** into = left ∘ right for `count` elements at byte offsets of one memory; `into` may be `left` or `right`. */
  apply(memory: Views, left: number, right: number, into: number, count: number): void;
  /**
   * Set where only the program itself can combine (an operation written in C): what the binding needs to have it done.
   * `apply` is not called then; see `Collectives.asked`.
   */
  readonly call?: unknown;
}

/** Looking a kernel up makes a closure: one for each operation and type that a program uses, for as long as it has both. */
const known = new WeakMap<Op, WeakMap<Datatype, Reduction>>();
let lastOp: Op | null = null;
let lastType: Datatype | null = null;
let last: Reduction | null = null;

/** Throws an MpiError when the operation does not take the type. */
export function reductionFor(op: Op, type: Datatype): Reduction {
  if (last !== null && op === lastOp && type === lastType) return last;
  const ofOp = known.get(op) ?? new WeakMap<Datatype, Reduction>();
  known.set(op, ofOp);
  const reduction = ofOp.get(type) ?? make(op, type);
  ofOp.set(type, reduction);
  [lastOp, lastType, last] = [op, type, reduction];
  return reduction;
}

function make(op: Op, type: Datatype): Reduction {
  if (op.kind === "predefined" && (op.name === "REPLACE" || op.name === "NO_OP")) {
    throw new MpiError(
      ErrorClass.OP,
      `Cannot reduce with MPI_${op.name}: only one-sided communication takes it (MPI 5.0 §12.3.4)`,
    );
  }
  const isWhole = type.trueLb === 0 && type.trueUb <= type.extent && type.lb === 0 && type.layout.kind === "run";
  if (type.elements.length > 0 || isWhole || op.kind === "predefined") {
    if (type.extent === 0) throw new MpiError(ErrorClass.TYPE, "Cannot reduce elements of a datatype without extent");
    return new KernelReduction(op, type);
  }
  return packedReduction(op, type);
}

class KernelReduction implements Reduction {
  static readonly unsaved = { kernel: null };
  readonly elementBytes: number;
  readonly inMemory = true;
  private readonly op: Op;
  private readonly type: Datatype;
  /** Looked up again after a restore. */
  private kernel: Combine | null;

  constructor(op: Op, type: Datatype) {
    this.op = op;
    this.type = type;
    this.elementBytes = type.extent;
    this.kernel = kernelFor(op, type);
  }

  apply(memory: Views, left: number, right: number, into: number, count: number): void {
    this.kernel ??= kernelFor(this.op, this.type);
    this.kernel(memory, left, right, into, count);
  }
}

/** A type with gaps travels packed and is spread out for the program's function: only it knows what the elements mean. */
function packedReduction(op: UserOp, type: Datatype): Reduction {
  if (type.size === 0) throw new MpiError(ErrorClass.TYPE, "Cannot reduce elements of a datatype without data");
  if (type.trueLb < 0 || type.extent < 0) {
    throw new MpiError(
      ErrorClass.UNSUPPORTED_OPERATION,
      "Cannot apply the operation to a datatype with data before its origin: the function could not reach it",
    );
  }
  const apply = (memory: Views, left: number, right: number, into: number, count: number): void => {
    if (count === 0) return;
    const bytes = (count - 1) * type.extent + type.trueUb;
    const [invec, inoutvec] = [new Uint8Array(bytes), new Uint8Array(bytes)];
    unpack({ bytes: memory.uint8, offset: left }, { type, count, bytes: invec, offset: 0 });
    unpack({ bytes: memory.uint8, offset: right }, { type, count, bytes: inoutvec, offset: 0 });
    op.call(invec, inoutvec, count, type);
    pack({ type, count, bytes: inoutvec, offset: 0 }, { bytes: memory.uint8, offset: into });
  };
  return { elementBytes: type.size, inMemory: false, apply };
}

saves({ KernelReduction });
