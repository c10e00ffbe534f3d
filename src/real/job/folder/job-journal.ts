/**
 * The journal of a running job. Trouble with it is told when all ranks have begun: a job that cannot begin says why in one line, and
 * has no use for a journal.
 */
import type { JobRecord } from "../../../core/service/job-record.ts";
import { JournalFile, type JournalOptions } from "./journal-file.ts";

export class JobJournal {
  readonly #file: JournalFile;
  readonly #note: (message: string) => void;
  #hasBegun = false;
  /** Trouble that was not told yet; empty: none. */
  #trouble = "";

  constructor(folder: string, note: (message: string) => void, options: JournalOptions) {
    this.#note = note;
    this.#file = new JournalFile(folder, (message) => this.#troubled(message), options);
  }

  append(record: JobRecord): void {
    this.#file.append(record);
  }

  /** All ranks have begun. */
  begun(): void {
    this.#hasBegun = true;
    if (this.#trouble !== "") this.#note(this.#trouble);
    this.#trouble = "";
  }

  close(): void {
    this.#file.close();
  }

  #troubled(message: string): void {
    if (this.#hasBegun) this.#note(message);
    else this.#trouble = message;
  }
}
