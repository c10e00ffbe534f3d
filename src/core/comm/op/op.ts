/**
 * Operations: combining the items of two ranks, element by element. Look a kernel up once (`kernelFor`), then call it for every
 * piece of data: it allocates nothing and knows its kind of element.
 *
 * Items lie in memory as their datatype says, one extent apart; kernels do not take packed pair types without their padding.
 * The lower rank stands on the left. Operands that are not aligned to their element go through a small aligned stage.
 */
import { unreachable } from "../../base/assert.ts";
import { ErrorClass, MpiError } from "../../base/mpi-error.ts";
import type { Datatype } from "../datatype/datatype.ts";
import { type Kernel, scaled, Views } from "../datatype/views.ts";
import { foldedAs } from "./fold.ts";
import { move, noOpBytes, replaceBytes } from "./kernels-bytes.ts";
import { elementKernel, groupsOf, locationKernels, type PredefinedOp } from "./op-predefined.ts";
import { type UserOp, userKernel } from "./op-user.ts";

export type Op = PredefinedOp | UserOp;

/** A kernel whose operands lie in one buffer: into = left ∘ right, at those byte offsets. */
export type Combine = (views: Views, left: number, right: number, into: number, count: number) => void;

interface Operand {
  readonly views: Views;
  /** Byte offset of the first item in the buffer. */
  readonly offset: number;
}

/** From so many bytes on a fold is worth its call. */
const foldedBytesMin = 64;

/** Throws an MpiError when the operation does not take the type. */
export function kernelFor(op: Op, type: Datatype): Combine {
  const kernel = kernelAcross(op, type);
  const combine: Combine = (views, left, right, into, count) => kernel(views, left, views, right, views, into, count);
  const folded = op.kind === "predefined" ? foldedAs(op, type) : null;
  if (folded === null) return combine;
  const { format, operation, itemBytes } = folded;
  return (views, left, right, into, count) => {
    const { fold } = views;
    const bytes = count * itemBytes;
    if (fold === null || bytes < foldedBytesMin) {
      combine(views, left, right, into, count);
      return;
    }
    const whole = bytes - (bytes % 16);
    fold(left, right, into, whole, format, operation);
    if (whole < bytes) combine(views, left + whole, right + whole, into + whole, (bytes - whole) / itemBytes);
  };
}

/** As `kernelFor`, for operands in up to three buffers. */
function kernelAcross(op: Op, type: Datatype): Kernel {
  switch (op.kind) {
    case "user":
      return userKernel(op, type);
    case "predefined": {
      const kernel = predefinedKernel(op, type);
      return type.shape.alignment === 1 ? kernel : alignedOrStaged(kernel, type);
    }
    default:
      return unreachable(op);
  }
}

export function apply(
  op: Op,
  type: Datatype,
  count: number,
  operands: { left: Operand; right: Operand; into: Operand },
): void {
  const { left, right, into } = operands;
  kernelAcross(op, type)(left.views, left.offset, right.views, right.offset, into.views, into.offset, count);
}

function predefinedKernel(op: PredefinedOp, type: Datatype): Kernel {
  const [element, index] = type.elements;
  if (element === undefined) throw mismatch(op, type, "predefined operations take predefined datatypes");
  switch (op.name) {
    case "REPLACE":
      return scaled(replaceBytes, type.extent);
    case "NO_OP":
      return scaled(noOpBytes, type.extent);
    case "MINLOC":
    case "MAXLOC": {
      const make = locationKernels[`${element.format} ${index?.format}`];
      if (make === undefined || index === undefined) throw mismatch(op, type, "it takes pairs of a value and an index");
      return make(op.name === "MAXLOC");
    }
    default: {
      const groups = groupsOf[op.name] ?? [];
      const takes = index === undefined && groups.includes(element.group);
      if (!takes) throw mismatch(op, type, `it takes these kinds of elements: ${groups.join(", ")}`);
      const kernel = elementKernel(op.name, element);
      if (kernel === undefined) throw mismatch(op, type, `there is no arithmetic for ${element.format} here`);
      return kernel;
    }
  }
}

function mismatch(op: PredefinedOp, type: Datatype, reason: string): MpiError {
  return new MpiError(ErrorClass.OP, `Cannot apply MPI_${op.name} to ${type.name || "a derived datatype"}: ${reason}`);
}

const stageBytes = 8192;
/** Made for the first unaligned operand. A kernel is never interrupted, so one stage serves all of them. */
let stage: Views | undefined;

function alignedOrStaged(kernel: Kernel, { shape, extent }: Datatype): Kernel {
  const mask = shape.alignment - 1;
  const itemsMax = Math.floor(stageBytes / extent);
  return (l, la, r, ra, o, oa, count) => {
    if (((la | ra | oa) & mask) === 0) {
      kernel(l, la, r, ra, o, oa, count);
      return;
    }
    stage ??= new Views(new ArrayBuffer(2 * stageBytes));
    for (let i = 0; i < count; i += itemsMax) {
      const items = Math.min(itemsMax, count - i);
      const [at, bytes] = [i * extent, items * extent];
      move(l, la + at, stage, 0, bytes);
      move(r, ra + at, stage, stageBytes, bytes);
      kernel(stage, 0, stage, stageBytes, stage, 0, items);
      move(stage, 0, o, oa + at, bytes);
    }
  };
}
