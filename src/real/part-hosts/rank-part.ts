/** A protocol's part in a rank's thread that needs the machine, and its setup. */
import type { Operations } from "../../core/binding/operations.ts";
import type { Waits } from "../../core/binding/world.ts";
import type { OptionValues } from "../../core/ft/option.ts";
import type { PlaneRecorder } from "../data-plane/plane-recorder.ts";
import type { Napper } from "../process/waiting.ts";

export interface RankPartSetup {
  readonly rank: number;
  readonly incarnation: number;
  /** Of the job's protocol. */
  readonly options: OptionValues;
  /** Of the job. */
  readonly seed: number;
  /** From the protocol's part in the node. */
  readonly part: unknown;
  /** Words of the node, see `node-words.ts`. */
  readonly words: SharedArrayBuffer;
  /** To the protocol's part for the job. */
  say(words: unknown): void;
}

export interface RankPart {
  /** For the protocol: `core/ft/definition.ts`. */
  readonly resources: unknown;
  /** For a rank that has nothing to do; null: it need not be asked. */
  readonly napper: Napper | null;
  /**
   * The rank has made a choice before its program begins, so that the code for that has run once, and this takes the way of one that a message
   * waits for. Not there: choices are not worth it.
   */
  rehearse?(): void;
  /** Stands between the program and its process; null or not there: nothing does. */
  readonly layer?: ProgramLayer | null;
  /** May collectives on boards go past the layer, by a data plane? Not unless given. */
  readonly mayMeetPastLayer?: boolean;
  /**
   * Of a protocol that lets messages inside a correlated set go by a data plane, but for what receives from any source took; null or not
   * there: the protocol must see all messages.
   */
  readonly recorder?: PlaneRecorder | null;
}

/** What stands between a program and its process, made for that process. */
export type ProgramLayer = (waits: Waits) => Operations;

export type NewRankPart = (setup: RankPartSetup) => RankPart;
