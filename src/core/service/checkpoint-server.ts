/**
 * The checkpoint server's books: which images of a correlated set are there, and which number a restart may use. Images are
 * stored and read by its host; here is the transaction (rule 4): a number is committed when the images of all members are
 * stored and verified, and a restart uses one committed number for the whole set.
 *
 * Number 0 is the start of the program: always there, and without images. The two newest committed numbers are kept, so that
 * one image may turn out to be unreadable; logs are trimmed as far as the older of them (rule 5).
 */
import { assert } from "../base/assert.ts";
import type { Checkpoint } from "../ft/checkpoint.ts";

export type { Checkpoint };

interface SetBooks {
  readonly members: ReadonlySet<number>;
  /** Committed, oldest first; never empty. */
  readonly committed: Checkpoint[];
  /** The last number given. */
  last: number;
  /** The one that is being taken; null: none. */
  open: { readonly number: number; readonly stored: Set<number>; position: number } | null;
}

/** What a commit makes superfluous. */
export interface Commit {
  /** No older one will be restored. */
  readonly oldest: Checkpoint;
  /** Whose images can be deleted. */
  readonly dropped: readonly number[];
}

/** Committed numbers that are kept. */
const keptMax = 2;

export class CheckpointServer {
  readonly #sets: SetBooks[];

  /** Members of each set. */
  constructor(sets: readonly (readonly number[])[]) {
    this.#sets = sets.map((members) => ({
      members: new Set(members),
      committed: [{ number: 0, position: 0 }],
      last: 0,
      open: null,
    }));
  }

  /** A checkpoint of that set begins: its number. One that was open is given up. */
  begin(set: number): number {
    const books = this.#sets[set]!;
    books.last++;
    books.open = { number: books.last, stored: new Set(), position: 0 };
    return books.last;
  }

  /** Is one being taken, or read back? */
  isBusy(set: number): boolean {
    return this.#sets[set]!.open !== null;
  }

  /** Is that the one that is being taken? */
  isOpen(set: number, number: number): boolean {
    return this.#sets[set]!.open?.number === number;
  }

  /** The image of a member is stored. True: all are, and the number can be committed. */
  stored(set: number, number: number, rank: number, position: number): boolean {
    const { open, members } = this.#sets[set]!;
    if (open?.number !== number) return false;
    assert(members.has(rank), `rank ${rank} is not in set ${set}`);
    // Who stands still may still close what it had begun to say: the stream is where the last of them left it.
    if (open.stored.size === 0 || ((position - open.position) | 0) > 0) open.position = position;
    open.stored.add(rank);
    return open.stored.size === members.size;
  }

  /** How many images of the one that is being taken are stored, and how many there will be. */
  progress(set: number): { readonly stored: number; readonly wanted: number } {
    const { open, members } = this.#sets[set]!;
    return { stored: open?.stored.size ?? 0, wanted: members.size };
  }

  /** All images have been read back. Null: it was given up meanwhile. */
  commit(set: number, number: number): Commit | null {
    const books = this.#sets[set]!;
    const { open, committed, members } = books;
    if (open?.number !== number || open.stored.size < members.size) return null;
    books.open = null;
    committed.push({ number, position: open.position });
    const dropped = committed.splice(0, committed.length - keptMax).map((old) => old.number);
    return { oldest: committed[0]!, dropped };
  }

  /** An image could not be stored, its set has fallen, or somebody was too slow: that number will never be committed. */
  giveUp(set: number, number = this.#sets[set]!.open?.number): void {
    const books = this.#sets[set]!;
    if (books.open?.number === number) books.open = null;
  }

  /** The one that is being taken; null: none. */
  open(set: number): number | null {
    return this.#sets[set]!.open?.number ?? null;
  }

  /** What a restart uses. */
  newest(set: number): Checkpoint {
    return this.#sets[set]!.committed.at(-1)!;
  }

  /** No older one will be restored. */
  oldest(set: number): Checkpoint {
    return this.#sets[set]!.committed[0]!;
  }

  /** Where the stream was at the one that is being taken, as far as its images are stored. */
  positionOfOpen(set: number): number {
    return this.#sets[set]!.open?.position ?? 0;
  }

  /** That one, the newest, cannot be read. False: there is no other, and what came before it is not in the logs any more. */
  refuse(set: number, number: number): boolean {
    const { committed } = this.#sets[set]!;
    assert(committed.at(-1)!.number === number, `checkpoint ${number} of set ${set} is not the newest`);
    if (committed.length === 1) return false;
    committed.pop();
    return true;
  }
}
