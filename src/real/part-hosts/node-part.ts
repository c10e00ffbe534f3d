/** A protocol's part in a node's main thread, and its setup. */
import type { JobSecret } from "../transport/handshake/handshake.ts";

export interface NodePartSetup {
  /** From the protocol's part for the job. */
  readonly part: unknown;
  readonly setOf: readonly number[];
  /** The job's own ranks on this node. */
  readonly ranks: readonly number[];
  /** The secret by which processes of the job know each other. */
  readonly job: JobSecret;
  /** Of this node alone. */
  readonly folder: string;
  incarnationOf(rank: number): number;
  /** To the protocol's part for the job, which hears it in this order. */
  say(words: unknown): void;
}

export interface NodePart {
  /** For the host of a rank that is about to begin a life, see `RankPartSetup`. */
  forRank(rank: number): unknown;
  /** These ranks, all that the node has of their sets, are about to begin another life; the threads of the old one are gone. */
  restart(part: unknown, ranks: readonly number[]): void;
  /** From the protocol's part for the job. */
  said(words: unknown): void;
  /** A rank of the node has rung: it may have left something. */
  relay(): void;
  /** With every sign of life: what its ranks have left without ringing. Not there: they always ring. */
  look?(): void;
  /** That rank sleeps over what the protocol has given it, and there is something else for it. Not there: ranks do not. */
  wake?(rank: number): void;
  /** No image of that set will be restored whose position is lower. */
  trim(set: number, position: number): void;
}

export type NewNodePart = (setup: NodePartSetup) => NodePart;
