/**
 * The journal of a job (`core/service/journal.ts`) in its folder. Written synchronously, because orders follow from a record as soon as it
 * is written; a job without a failure has a handful of them. What is written survives the dispatcher; forced to the disk, it survives a power
 * cut (ADR 52).
 *
 * A disk that is full must not end a job that runs: the trouble is told once, and the journal ends there. It is never gone on with behind a
 * record that may be torn.
 */
import { appendFileSync, closeSync, fdatasyncSync, ftruncateSync, openSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describeSystemError } from "../../../core/base/system-error.ts";
import type { JobRecord } from "../../../core/service/job-record.ts";
import { decodeJournal, encodeRecord, type JournalDamaged, type JournalRead } from "../../../core/service/journal.ts";
import { syncFolder } from "../../disk/sync-folder.ts";

const journalIn = (folder: string): string => join(folder, "journal");

export interface JournalOptions {
  /** Where the last whole record of a journal that is there ends. */
  readonly bytes?: number | undefined;
  /** What is written is forced to the disk. False unless given. */
  readonly isForDisk?: boolean;
}

export class JournalFile {
  readonly #note: (message: string) => void;
  readonly #folder: string;
  readonly #isForDisk: boolean;
  /** Undefined: nothing is written any more. */
  #file: number | undefined;

  /** A new one, in the folder of a job, unless there is another. `note` hears of trouble. */
  constructor(folder: string, note: (message: string) => void, { bytes, isForDisk = false }: JournalOptions = {}) {
    this.#note = note;
    this.#folder = folder;
    this.#isForDisk = isForDisk;
    this.#attempt(() => {
      this.#file = openSync(journalIn(folder), bytes === undefined ? "ax" : "a", 0o600);
      // Nothing is appended behind a record that is torn.
      if (bytes !== undefined) ftruncateSync(this.#file, bytes);
      if (isForDisk) syncFolder(folder);
    });
  }

  append(record: JobRecord): void {
    const file = this.#file;
    if (file === undefined) return;
    this.#attempt(() => {
      appendFileSync(file, encodeRecord(record));
      if (this.#isForDisk) fdatasyncSync(file);
    });
  }

  close(): void {
    const file = this.#file;
    this.#file = undefined;
    try {
      if (file !== undefined) closeSync(file);
    } catch {
      // Records that could not be written were told of when they were to be.
    }
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      // Nobody goes on from a journal that lacks decisions.
      if (this.#file !== undefined) spoil(this.#folder);
      this.close();
      this.#note(
        `Cannot write the job's journal: ${describeSystemError(error)}; the job goes on, and could not be taken over if its dispatcher were lost`,
      );
    }
  }
}

function spoil(folder: string): void {
  try {
    renameSync(journalIn(folder), `${journalIn(folder)}.spoilt`);
  } catch {
    // The folder is gone.
  }
}

/** Throws the system's errors. */
export function readJournal(folder: string): JournalRead | JournalDamaged {
  return decodeJournal(readFileSync(journalIn(folder)));
}
