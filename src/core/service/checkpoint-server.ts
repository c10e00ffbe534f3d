/**
 * The checkpoint server's books: which images of a correlated set are there, and which number a restart may use. Images are
 * stored and read by its host; here is the transaction (rule 4): a number is committed when the images of all members are
 * stored and verified, and a restart uses one committed number for the whole set.
 *
 * Number 0 is the start of the program: always there, and without images. The two newest committed numbers are kept, so that
 * one image may turn out to be unreadable; logs are trimmed as far as the older of them (rule 5).
 *
 * The books change by records of the journal only. Which images of a checkpoint under way are stored is not in them: whoever takes over
 * gives that checkpoint up.
 */
import { assert, unreachable } from "../base/assert.ts";
import type { Checkpoint } from "../ft/checkpoint.ts";

export type { Checkpoint };

/** The books of one set. */
export interface SetBooks {
  /** Committed, oldest first; never empty. */
  readonly committed: Checkpoint[];
  /** The last number given. */
  last: number;
  /** The one that is being taken; null: none. */
  open: number | null;
}

/** A checkpoint of a set begins. One that was open is given up. */
interface CheckpointBegun {
  readonly kind: "checkpoint-begun";
  readonly set: number;
  readonly number: number;
}
/** The checkpoint that was being taken counts from now on. */
interface CheckpointCommitted {
  readonly kind: "checkpoint-committed";
  readonly set: number;
  readonly checkpoint: Checkpoint;
}
/** The checkpoint that was being taken will never count. */
interface CheckpointGivenUp {
  readonly kind: "checkpoint-given-up";
  readonly set: number;
  readonly number: number;
}
/** The newest checkpoint that counts cannot be read: the one before it counts. */
interface CheckpointRefused {
  readonly kind: "checkpoint-refused";
  readonly set: number;
  readonly number: number;
}
export type CheckpointRecord = CheckpointBegun | CheckpointCommitted | CheckpointGivenUp | CheckpointRefused;

export function newBooks(): SetBooks {
  return { committed: [{ number: 0, position: 0 }], last: 0, open: null };
}

/** Changes the books of the record's set as it says. Checkpoints whose images can be deleted. */
export function applyToBooks(books: SetBooks, record: CheckpointRecord): Checkpoint[] {
  const { committed } = books;
  switch (record.kind) {
    case "checkpoint-begun":
      books.last = record.number;
      books.open = record.number;
      return [];
    case "checkpoint-committed":
      books.open = null;
      committed.push(record.checkpoint);
      return committed.splice(0, committed.length - keptMax);
    case "checkpoint-given-up":
      books.open = null;
      return [];
    case "checkpoint-refused":
      return committed.splice(-1);
    default:
      return unreachable(record);
  }
}

/** State of the checkpoint that is being taken; it dies with the dispatcher. */
interface Progress {
  readonly stored: Set<number>;
  position: number;
}

/** Images that a commit makes superfluous. */
interface Commit {
  /** No older one will be restored. */
  readonly oldest: Checkpoint;
  /** Whose images can be deleted. */
  readonly dropped: readonly number[];
}

/** Committed numbers that are kept. */
const keptMax = 2;

export class CheckpointServer {
  readonly #members: readonly (readonly number[])[];
  readonly #books: readonly SetBooks[];
  readonly #write: (record: CheckpointRecord) => void;
  readonly #progress: Progress[];

  /** There is one more set: its members and its books are in the lists. */
  add(): void {
    this.#progress.push({ stored: new Set(), position: 0 });
  }

  /** Members of each set; where records go before they count; the books of a predecessor. */
  constructor(
    sets: readonly (readonly number[])[],
    write: (record: CheckpointRecord) => void = () => {},
    books: readonly SetBooks[] = sets.map(() => newBooks()),
  ) {
    this.#members = sets;
    this.#books = books;
    this.#write = write;
    this.#progress = sets.map(() => ({ stored: new Set(), position: 0 }));
  }

  /** A checkpoint of that set begins: its number. One that was open is given up. */
  begin(set: number): number {
    const number = this.#books[set]!.last + 1;
    this.#record({ kind: "checkpoint-begun", set, number });
    this.#progress[set] = { stored: new Set(), position: 0 };
    return number;
  }

  /** Is one being taken, or read back? */
  isBusy(set: number): boolean {
    return this.#books[set]!.open !== null;
  }

  /** Is that the one that is being taken? */
  isOpen(set: number, number: number): boolean {
    return this.#books[set]!.open === number;
  }

  /** The image of a member is stored. True: all are, and the number can be committed. */
  stored(set: number, number: number, rank: number, position: number): boolean {
    if (!this.isOpen(set, number)) return false;
    const members = this.#members[set]!;
    assert(members.includes(rank), `rank ${rank} is not in set ${set}`);
    const progress = this.#progress[set]!;
    // A rank that stands still may still close an entry that it had begun: the stream ends where the last member left it.
    if (progress.stored.size === 0 || ((position - progress.position) | 0) > 0) progress.position = position;
    progress.stored.add(rank);
    return progress.stored.size === members.length;
  }

  /** How many images of the one that is being taken are stored, and how many there will be. */
  progress(set: number): { readonly stored: number; readonly wanted: number } {
    return { stored: this.isBusy(set) ? this.#progress[set]!.stored.size : 0, wanted: this.#members[set]!.length };
  }

  /** All images have been read back. Null: it was given up meanwhile. */
  commit(set: number, number: number): Commit | null {
    const { stored, position } = this.#progress[set]!;
    if (!this.isOpen(set, number) || stored.size < this.#members[set]!.length) return null;
    const dropped = this.#record({ kind: "checkpoint-committed", set, checkpoint: { number, position } });
    return { oldest: this.oldest(set), dropped: dropped.map((old) => old.number) };
  }

  /** An image could not be stored, its set has fallen, or a rank was too slow: that number will never be committed. */
  giveUp(set: number, number = this.open(set)): void {
    if (number !== null && this.isOpen(set, number)) this.#record({ kind: "checkpoint-given-up", set, number });
  }

  /** The one that is being taken; null: none. */
  open(set: number): number | null {
    return this.#books[set]!.open;
  }

  /** The checkpoint that a restart uses. */
  newest(set: number): Checkpoint {
    return this.#books[set]!.committed.at(-1)!;
  }

  /** No older one will be restored. */
  oldest(set: number): Checkpoint {
    return this.#books[set]!.committed[0]!;
  }

  /** Where the stream was at the one that is being taken, as far as its images are stored. */
  positionOfOpen(set: number): number {
    return this.isBusy(set) ? this.#progress[set]!.position : 0;
  }

  /** That one, the newest, cannot be read. False: there is no other, and what came before it is not in the logs any more. */
  refuse(set: number, number: number): boolean {
    const { committed } = this.#books[set]!;
    assert(committed.at(-1)!.number === number, `checkpoint ${number} of set ${set} is not the newest`);
    if (committed.length === 1) return false;
    this.#record({ kind: "checkpoint-refused", set, number });
    return true;
  }

  /** Checkpoints whose images can be deleted. */
  #record(record: CheckpointRecord): Checkpoint[] {
    this.#write(record);
    return applyToBooks(this.#books[record.set]!, record);
  }
}
