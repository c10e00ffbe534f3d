/** The processes that an attempt to make a clone is about, and where they are. */
import type { ProcessName } from "../../../core/base/identity.ts";
import { cloneNumber } from "../../../core/ft/clones.ts";
import { type CloneAttempt, isMove } from "../../../core/service/clone-schedule.ts";
import type { Placement } from "../../../core/service/placement.ts";

interface ClonePlacesOptions {
  /** By process: who plays which rank. */
  readonly players: readonly ProcessName[];
  /** The present one, whoever is moved. */
  readonly placement: Placement;
  /** The node that a process is moved to; null: it is not. */
  targetOf(process: number): number | null;
}

export class ClonePlaces {
  readonly #options: ClonePlacesOptions;

  constructor(options: ClonePlacesOptions) {
    this.#options = options;
  }

  nodeOf(process: number): number {
    return this.#options.placement[process]!;
  }

  processOf({ rank, replica }: ProcessName): number {
    return this.#options.players.findIndex((name) => name.rank === rank && name.replica === replica);
  }

  cloneOf({ clone }: CloneAttempt): number {
    return this.processOf(clone);
  }

  sourceOf({ clone, source }: CloneAttempt): number {
    return this.processOf({ rank: clone.rank, replica: source });
  }

  /** The node that the clone will be on. */
  cloneNodeOf(attempt: CloneAttempt): number {
    const clone = this.cloneOf(attempt);
    return (isMove(attempt) ? this.#options.targetOf(clone) : null) ?? this.nodeOf(clone);
  }

  /** Is that the image that an attempt waits for? */
  isImageOf(attempt: CloneAttempt, process: number, number: number): boolean {
    return process === this.sourceOf(attempt) && number === imageNumberOf(attempt);
  }
}

export const imageNumberOf = ({ clone, life }: CloneAttempt): number => cloneNumber(clone.replica, life);
