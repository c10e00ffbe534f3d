/**
 * The program's buffers as the rings copy them: to a packet, and between two processes of the node. TypeScript programs have
 * theirs in the node's memory (rank-memory.ts), every C program has a memory of its own (program-memory.ts).
 */
import type { Pointer } from "../../core/base/brand.ts";

export interface ProcessBuffers {
  /** Do all processes of the node have their buffers in its memory? Then large copies are one instruction there. */
  readonly areInNode: boolean;
  /** From a buffer to a packet's payload, in the node's memory. */
  toPayload(payload: number, from: Pointer, offset: number, bytes: number): void;
  /** From a buffer of another process of the node (by its index there) to one of ours. */
  fetchFrom(process: number, to: Pointer, toOffset: number, peerPointer: number, bytes: number): void;
  /** The other way. */
  putTo(process: number, peerPointer: number, from: Pointer, bytes: number): void;
}
