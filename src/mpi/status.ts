/** The outcome of a message: its source, its tag and its length (MPI 5.0 §3.2.5). */
import { UNDEFINED } from "../core/base/constants.ts";
import type { Datatype } from "../core/comm/datatype/datatype.ts";
import { elementBytes, elementCount } from "../core/comm/datatype/datatype-elements.ts";

export class Status {
  /** Rank of the sender in the communicator; PROC_NULL, or ANY_SOURCE for an operation that received nothing. */
  source: number;
  tag: number;
  /** Length of the message in bytes. */
  bytes: number;
  error: number;
  cancelled: boolean;

  constructor(source = -1, tag = -2, bytes = 0, error = 0, cancelled = false) {
    this.source = source;
    this.tag = tag;
    this.bytes = bytes;
    this.error = error;
    this.cancelled = cancelled;
  }

  /** Whole elements of that type in the message; UNDEFINED when it does not hold a whole number of them. */
  count(type: Datatype | { readonly BYTES_PER_ELEMENT: number }): number {
    const size = "BYTES_PER_ELEMENT" in type ? type.BYTES_PER_ELEMENT : type.size;
    if (size === 0) return this.bytes === 0 ? 0 : UNDEFINED;
    return this.bytes % size === 0 ? this.bytes / size : UNDEFINED;
  }

  /** Basic elements in the message, counted also when the last element of the type is incomplete. */
  elements(type: Datatype): number {
    return elementCount(type, this.bytes);
  }

  /** As if the message had held so many basic elements of that type: for generalized requests. */
  setElements(type: Datatype, count: number): void {
    this.bytes = elementBytes(type, count);
  }
}
