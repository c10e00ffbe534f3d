/**
 * The part of a protocol that stands beside the dispatcher, for the whole job. Pure: it is fed events; what takes time is
 * answered later, through its ports. Nothing here waits, reads a clock or knows of processes and files: a host runs it in real
 * jobs, another in the simulator.
 */
import type { Checkpoint } from "./checkpoint.ts";
import type { SetSplit } from "./set-split.ts";

export interface JobPart {
  /**
   * A set has fallen and will begin another life: collect what its members must know, then call `ports.prepared` once. A later
   * fall of the set voids it.
   */
  prepare(next: NextLife): void;
  /** All images of a set's checkpoint are stored and verified: may it count? If not, `ports.mayCommit(set)` is called when the answer may have changed. */
  mayCommit(set: number, position: number): boolean;
  /** A checkpoint of the set counts; no image older than `oldest` will be restored. */
  committed(set: number, oldest: Checkpoint): void;
  /** A rank becomes a set of its own. Said before both sets fall. Not there where no set has several ranks. */
  split?(split: SetSplit): void;
  /** What ranks of the job said to it; only the protocol understands it. */
  rankSaid(rank: number, words: unknown): void;
  /** Words of the protocol's part in that node. Not there where such parts say nothing. */
  nodeSaid?(node: number, words: unknown): void;
  /** For the setup of a node that is about to start, or to restart some ranks; only the protocol's part for nodes understands it. */
  forNode(node: number, restarting: readonly number[]): unknown;
  /** Time passes; the host calls it as often as `Dispatcher.tick`, and when `nextTimeMs` has come. */
  tick(nowMs: number): void;
  /** When `tick` should be called at the latest; Infinity: there is no hurry. Any call may change it. */
  readonly nextTimeMs: number;
}

export interface NextLife {
  readonly set: number;
  readonly incarnation: number;
  /** What it begins with, and the oldest checkpoint that any life of the set may still begin with. */
  readonly newest: Checkpoint;
  readonly oldest: Checkpoint;
}

/** `forRanks`: given to every member's protocol at its beginning. `problem`: the set cannot begin again, in one line for the user. */
export type Prepared = { readonly forRanks: unknown } | { readonly problem: string };

export interface JobPartPorts {
  prepared(set: number, incarnation: number, outcome: Prepared): void;
  mayCommit(set: number): void;
  /** Checkpoints of these sets would help that rank, whose logs are full. */
  wantCheckpoints(rank: number, sets: readonly number[]): void;
  toNode(node: number, words: unknown): void;
  note(message: string): void;
}
