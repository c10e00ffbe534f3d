/**
 * Who makes things go wrong in a world in which the dead come back, and is told for that what happens in it. There are two of them: the
 * seed (drawn-faults.ts), and a fault plan (sim-planned-faults.ts), the same as real jobs have.
 */
import type { Service } from "../../core/fault/plan.ts";
import type { Living } from "../../core/fault/schedule.ts";
import type { CheckpointEvent } from "./checkpoints.ts";

/** What can be done to a job. */
export interface TroublePorts extends Living {
  /** Nothing happens to a job that is over. */
  isOver(): boolean;
  killNode(node: number): void;
  /** Their nodes live on. */
  killRanks(ranks: readonly number[]): void;
  stopNode(node: number): void;
  continueNode(node: number): void;
  /** It crashes; an event logger may also be lost only to those who speak to it. Unless given the world decides. */
  lose(service: Service, keepsContents?: boolean): void;
  /** Whoever has been killed is known to be dead now. */
  notice(): void;
}

export interface Trouble {
  /** Deeds so far. */
  readonly happened: number;
  /** Of a plan: how often each entry was carried out. */
  readonly fired: readonly number[];
  /** The programs begin. */
  begin(): void;
  /** A life of the rank begins. */
  lives(rank: number): void;
  /** The rank is about to do that action; one more than there are: its program is over. True: something happens to somebody now. */
  passes(rank: number, action: number): boolean;
  /** The rank has finished. */
  finished(rank: number): void;
  checkpoint(event: CheckpointEvent): void;
  /** The next life of a set has begun. */
  restarted(set: number): void;
  /** A payload log of a rank of that set has no room. */
  logFull(set: number): void;
}
