/**
 * Folds: a kernel of the machine that combines sixteen bytes at a time, in a memory that has one (`Fold` in datatype/views.ts). It gives the bits that
 * the kernels of this folder give, to elements one by one; so it takes the long part of an operand, and a kernel what is left of it.
 */
import type { Datatype } from "../datatype/datatype.ts";
import type { ElementFormat } from "../datatype/element.ts";
import { groupsOf, type PredefinedOp } from "./op-predefined.ts";

/** Elements that folds read, by their number there. */
export const foldedFormats: readonly ElementFormat[] = [
  ...(["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"] as const),
  ...(["float32", "float64"] as const),
];

/** Folds count operations from there, in the numbering of the standard ABI. */
const firstHandle = 0x20;

interface Folded {
  readonly format: number;
  readonly operation: number;
  /** Of an item, a power of two up to 16. */
  readonly itemBytes: number;
}

/** Null: folds do not know this operation on items of that type. The operation takes the type. */
export function foldedAs(op: PredefinedOp, { elements, extent }: Datatype): Folded | null {
  const [element, other] = elements;
  if (element === undefined || other !== undefined || extent !== element.bytes) return null;
  if (groupsOf[op.name]?.includes(element.group) !== true) return null;
  const format = foldedFormats.indexOf(halvesOf(op, element.format));
  return format < 0 ? null : { format, operation: op.handle - firstHandle, itemBytes: extent };
}

/** A sum of complex numbers is that of their halves. */
function halvesOf({ name }: PredefinedOp, format: ElementFormat): ElementFormat {
  if (name !== "SUM") return format;
  return format === "complex64" ? "float32" : format === "complex128" ? "float64" : format;
}
