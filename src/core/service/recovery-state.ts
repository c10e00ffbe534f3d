/**
 * The lasting state of recovery: the present life of each set, and the checkpoints that count. The lives follow from the
 * dispatcher's falls, which are in the journal already: one decision, one record, and dispatcher and recovery never disagree about a
 * life. Losses, and the data that the protocol prepares for a life, are not here: a set that had not begun again falls once more.
 */
import { assert } from "../base/assert.ts";
import type { SetSplit } from "../ft/set-split.ts";
import { applyToBooks, type CheckpointRecord, newBooks, type SetBooks } from "./checkpoint-server.ts";

export type RecoveryRecord = CheckpointRecord;

export interface RecoveryState {
  /** Which life of each set is the present one. */
  readonly incarnations: number[];
  readonly books: SetBooks[];
  /** Ranks that have become sets of their own. */
  readonly splits: SetSplit[];
}

export function newRecoveryState(sets: number): RecoveryState {
  return {
    incarnations: new Array<number>(sets).fill(0),
    books: Array.from({ length: sets }, () => newBooks()),
    splits: [],
  };
}

/** Changes the state as the record says. */
export function applyToRecovery({ books }: RecoveryState, record: RecoveryRecord): void {
  applyToBooks(books[record.set]!, record);
}

/** These sets have fallen and begin their next lives: checkpoints of theirs that were being taken will never count. */
export function applySetsFell({ incarnations, books }: RecoveryState, sets: Iterable<number>): void {
  for (const set of sets) {
    incarnations[set]!++;
    books[set]!.open = null;
  }
}

/** A rank is a set of its own from now on. Both begin with one checkpoint: older ones are of all of them together. */
export function applySplit({ incarnations, books, splits }: RecoveryState, split: SetSplit): void {
  const { set, as, checkpoint } = split;
  assert(as === books.length, `set ${as} is not the next of ${books.length}`);
  incarnations.push(incarnations[set]!);
  const { committed } = books[set]!;
  committed.splice(0, committed.length, checkpoint);
  books.push({ committed: [checkpoint], last: checkpoint.number, open: null });
  splits.push(split);
}
