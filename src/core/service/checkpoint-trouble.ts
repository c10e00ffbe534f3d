/**
 * What to say of checkpoints that are given up. They are tried again and again, by every set, and most often fail for the same
 * reason: that is said once, and again when it changes.
 */
export class CheckpointTrouble {
  /** Reasons that have been said, without what differs from one attempt to the next. */
  readonly #said = new Set<string>();
  /** Sets whose last attempt was given up. */
  readonly #sets = new Set<number>();
  #givenUp = 0;

  /** A checkpoint of that set was given up; a line for the user, or null: he knows. */
  gaveUp(set: number, number: number, why: string): string | null {
    this.#sets.add(set);
    this.#givenUp++;
    const reason = withoutPlaces(why);
    if (this.#said.has(reason)) return null;
    this.#said.add(reason);
    return `checkpoint ${number} of set ${set} was given up: ${why}; it is tried again, and others that fail for this reason are not reported`;
  }

  /** One of that set counts. A line for the user when all sets that were in trouble are out of it; null otherwise. */
  committed(set: number): string | null {
    if (!this.#sets.delete(set) || this.#sets.size > 0) return null;
    const count = this.#givenUp;
    this.#givenUp = 0;
    this.#said.clear();
    // One that is made up for at once was worth a line, and is not worth a second.
    return count === 1 ? null : `checkpoints are taken again; ${count} were given up`;
  }
}

/** Names of files, ranks and numbers differ from one attempt to the next. */
const withoutPlaces = (why: string): string => why.replaceAll(/\/\S+|\d+/g, "");
