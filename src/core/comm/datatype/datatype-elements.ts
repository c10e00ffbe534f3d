/**
 * How much of a datatype a message holds (MPI 5.0 §3.2.5, §5.1.11). A pair type (FLOAT_INT …) counts as two elements, as in
 * MPICH, because it is a structure of two.
 */
import { UNDEFINED } from "../../base/constants.ts";
import type { Datatype } from "./datatype.ts";
import { bytesOfFirst, elementsWithin, forEachTotal, onlyElement } from "./signature.ts";

export { forEachTotal, onlyElement };

/** Whole items in `bytes` bytes; UNDEFINED when the bytes are no whole number of items. */
export function itemCount(type: Datatype, bytes: number): number {
  if (type.size === 0) return bytes === 0 ? 0 : UNDEFINED;
  return bytes % type.size === 0 ? bytes / type.size : UNDEFINED;
}

/** Basic elements in `bytes` bytes, where the last item may be incomplete; UNDEFINED when the bytes end inside an element. */
export function elementCount(type: Datatype, bytes: number): number {
  if (type.size === 0) return bytes === 0 ? 0 : UNDEFINED;
  const items = Math.floor(bytes / type.size);
  const rest = elementsWithin(type.signature, bytes - items * type.size);
  return rest === undefined ? UNDEFINED : items * type.signature.elements + rest;
}

/** Bytes of the first `elements` basic elements of a stream of items: the inverse, for MPI_Status_set_elements. */
export function elementBytes(type: Datatype, elements: number): number {
  if (type.size === 0) return 0;
  const items = Math.floor(elements / type.signature.elements);
  return items * type.size + bytesOfFirst(type.signature, elements - items * type.signature.elements);
}
