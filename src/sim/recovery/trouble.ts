/**
 * The source of faults in a world in which the dead come back; it is told of the events that faults may wait for. There are two: the
 * seed (drawn-faults.ts), and a fault plan (sim-planned-faults.ts), the same as real jobs have.
 */
import type { Service } from "../../core/fault/plan.ts";
import type { Living } from "../../core/fault/schedule.ts";
import type { CheckpointProgress } from "./checkpoints.ts";
import type { MoveStep } from "./sim-moves.ts";

/** Faults that a job can suffer. */
export interface TroublePorts extends Living {
  /** Nothing happens to a job that is over. */
  isOver(): boolean;
  killNode(node: number): void;
  /** Their nodes live on. */
  killRanks(ranks: readonly number[]): void;
  stopNode(node: number): void;
  continueNode(node: number): void;
  /** The node runs, and no word of it reaches the dispatcher until the result is called. */
  muteNode(node: number): () => void;
  /** The service crashes; an event logger may lose its connections alone. The world decides unless `keepsContents` is given. */
  lose(service: Service, keepsContents?: boolean): void;
  /** Every process of the job is killed at once: dispatcher, nodes, services. A successor of each goes on with what is written. */
  switchOff(): void;
  /** The dispatcher hears now of all that have been killed. */
  notice(): void;
}

export interface Trouble {
  /** Faults so far. */
  readonly happened: number;
  /** Of a plan: how often each entry was carried out. */
  readonly fired: readonly number[];
  /** The programs begin. */
  begin(): void;
  /** A life of the rank begins. */
  lives(rank: number): void;
  /** The rank is about to do that action; an action behind the last: its program is over. True: a fault happens now. */
  passes(rank: number, action: number): boolean;
  /** The rank has finished. */
  finished(rank: number): void;
  checkpoint(event: CheckpointProgress): void;
  /** The next life of a set has begun. */
  restarted(set: number): void;
  /** The move of these ranks has come so far. */
  moves?(step: MoveStep, ranks: readonly number[]): void;
  /** A payload log of a rank of that set has no room. */
  logFull(set: number): void;
}
