/**
 * The memory a process's messages come from and go to: a port, because in the real world it is the node's shared memory
 * (and, for C, the program's own), in the simulator an array of its own.
 *
 * A `Pointer` ≥ 0 is a byte offset in `bytes`. A `Pointer` < 0 stands for a view that the program lent for the time of one
 * request (an ordinary typed array): `lend` gives the pointer, `giveBack` ends it. Packets' payloads lie in the
 * transport's memory; `payload` arguments are byte offsets there.
 */
import type { Pointer } from "../base/brand.ts";

export interface Memory {
  /** All of the shareable memory. Never replaced: it is reserved in full at the start, untouched pages cost nothing. */
  readonly bytes: Uint8Array;

  /** Bytes of the process's own, until `free`. Scratch space, stored payloads. Aligned to 16. Throws NO_MEM when there are none. */
  allocate(bytes: number): Pointer;
  free(pointer: Pointer): void;
  /** So many bytes more will be allocated before long: `prepare` makes them ready, where that is of use. */
  expect?(bytes: number): void;
  /** For a process that waits: makes a little of the expected memory ready. False: there is nothing to do. */
  prepare?(): boolean;

  /** The view must not be of the shareable memory: there the pointer is the offset. */
  lend(view: Uint8Array): Pointer;
  giveBack(pointer: Pointer): void;
  /** The bytes behind a pointer as a view, for layers above; not for the path of every message. */
  view(pointer: Pointer, bytes: number): Uint8Array;

  /** From the program's buffer to a packet's payload. */
  toPayload(payload: number, from: Pointer, offset: number, bytes: number): void;
  /** From a packet's payload to the program's buffer. */
  fromPayload(to: Pointer, offset: number, payload: number, bytes: number): void;
  /** What `bytesHash` (message-hash.ts) says of bytes that are not lent, where there is a faster way. */
  hash?(pointer: Pointer, bytes: number): number;
  /** Between two buffers of this process. */
  copy(to: Pointer, toOffset: number, from: Pointer, fromOffset: number, bytes: number): void;
}
