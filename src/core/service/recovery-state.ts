/**
 * The lasting state of recovery: the present life of each set, and the checkpoints that count. The lives follow from the
 * dispatcher's falls, which are in the journal already: one decision, one record, and dispatcher and recovery never disagree about a
 * life. Losses, and the data that the protocol prepares for a life, are not here: a set that had not begun again falls once more.
 */
import { applyToBooks, type CheckpointRecord, newBooks, type SetBooks } from "./checkpoint-server.ts";

export type RecoveryRecord = CheckpointRecord;

export interface RecoveryState {
  /** Which life of each set is the present one. */
  readonly incarnations: number[];
  readonly books: readonly SetBooks[];
}

export function newRecoveryState(sets: number): RecoveryState {
  return {
    incarnations: new Array<number>(sets).fill(0),
    books: Array.from({ length: sets }, () => newBooks()),
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
