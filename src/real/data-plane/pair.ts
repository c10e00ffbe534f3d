/** Reductions of two members in the data plane, where parts are lent: made by JavaScript, which has the memories of both. */
import type { Pointer } from "../../core/base/brand.ts";
import { foldLentPair, type Pair } from "../../core/coll/engine/lent-parts.ts";
import { viewsOf } from "../../core/comm/datatype/views.ts";
import type { ProcessBuffers } from "../transport/process-buffers.ts";

/** The memory of a rank's program, with ways to those of the other processes of the node. */
export interface NeighbourMemory extends ProcessBuffers {
  readonly memory: WebAssembly.Memory;
  readonly bytes: Uint8Array;
  allocate(bytes: number): Pointer;
  free(pointer: Pointer): void;
  /** From the node's memory to a buffer. */
  fromPayload(to: Pointer, offset: number, payload: number, bytes: number): void;
}

/** One for all calls of a rank, so that none makes an object. */
export class PlanePair implements Pair {
  readonly memory: NeighbourMemory;
  own = 0 as Pointer;
  into = 0 as Pointer;
  bytes = 0;
  isFirst = false;
  /** Planes know no elements that sixteen bytes are not a multiple of. */
  readonly elementBytes = 16;
  #lent = 0;
  #place = 0;
  #onBoard = 0;
  #format = 0;
  #operation = 0;

  constructor(memory: NeighbourMemory) {
    this.memory = memory;
  }

  /** The order is that of `pair` in collectives.wat, then that of collectives-face.wat. */
  readonly combine = (
    lent: number,
    place: number,
    onBoard: number,
    isFirst: number,
    format: number,
    operation: number,
    own: Pointer,
    into: Pointer,
    bytes: number,
  ): void => {
    this.#lent = lent;
    this.#place = place;
    this.#onBoard = onBoard;
    this.isFirst = isFirst === 1;
    this.#format = format;
    this.#operation = operation;
    this.own = own;
    this.into = into;
    this.bytes = bytes;
    foldLentPair(this);
  };

  fetch(to: Pointer, offset: number, bytes: number): void {
    const { memory } = this;
    if (this.#lent === 0) memory.fromPayload(to, 0, this.#onBoard + offset, bytes);
    else memory.fetchFrom(this.#place, to, 0, this.#lent + offset, bytes);
  }

  apply(left: number, right: number, into: number, bytes: number): void {
    viewsOf(this.memory.bytes.buffer).fold!(left, right, into, bytes, this.#format, this.#operation);
  }
}
