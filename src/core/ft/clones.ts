/**
 * Processes that come back, where several play a rank, as clones of others that play it: the words that a protocol, the dispatcher and the hosts
 * of processes have in common.
 */
import type { ProcessName } from "../base/identity.ts";

/** With this a clone begins: all processes of the job, as the dispatcher knows them. */
export interface CloneBeginning {
  /** Which replica the clone is; its image is that of another. */
  readonly replica: number;
  readonly members: readonly (ProcessName & { readonly life: number; readonly isAlive: boolean })[];
}

/** A replica that was lost and has come back. */
export interface ClonedReplica {
  readonly rank: number;
  readonly replica: number;
  /** The replica that it was cloned from. */
  readonly source: number;
  /** Of the image, pages that changed while it was copied more than once. */
  readonly bytes: number;
  /** Of copying, the last one included, for which the source stood still. */
  readonly rounds: number;
  /** From the order to copy until all of it was there. */
  readonly copyMs: number;
  /** So long the source stood still. */
  readonly pauseMs: number;
  /** From its loss until everybody knew the clone: so long its rank lacked a replica. */
  readonly afterMs: number;
  /** The spare that it is on; 0: its node was started again, or had not gone. */
  readonly spare: number;
}

/** A replica that was moved to another node while it lived. */
export interface MovedReplica {
  readonly rank: number;
  readonly replica: number;
  readonly from: number;
  readonly node: number;
  /** As in `ClonedReplica`. */
  readonly bytes: number;
  readonly rounds: number;
  readonly copyMs: number;
  /** So long it stood still: from its last page until its program ran in its new place. */
  readonly pauseMs: number;
}

/** No rank has more replicas. */
const replicasMax = 16;

/** The number of an image says, to the process whose image it is, which replica shall come back from it, and in which life. */
export const cloneNumber = (replica: number, life: number): number => life * replicasMax + replica;
export const cloneOfNumber = (number: number): { readonly replica: number; readonly life: number } => ({
  replica: number % replicasMax,
  life: Math.floor(number / replicasMax),
});
/** The number for a process that shall go on without an image: the first lives are no clones. */
export const noClone = replicasMax - 1;
