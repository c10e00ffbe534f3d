/**
 * The shared memory of a node: what its ranks exchange messages through. The seam between the agent, which owns the
 * node's main thread, and `real/transport`, which owns the layout.
 */
import type { DeathNotice } from "./messages.ts";

export interface NodeMemory {
  /** Put into the `workerData` of every rank of this node; must be a value that structured clone shares or copies. */
  readonly shared: unknown;
  /** The dispatcher has declared a death, here or on another node: make it visible to this node's ranks, and wake them. */
  death(notice: DeathNotice): void;
  /** A rank of this node has ended in order: its ring takes packets and drops them. */
  finished(rank: number): void;
}

export interface NodeMemoryOptions {
  readonly node: number;
  /** Node of each rank of the job. */
  readonly nodeOf: readonly number[];
}

export function createNodeMemory(_options: NodeMemoryOptions): NodeMemory {
  return { shared: null, death() {}, finished() {} };
}
