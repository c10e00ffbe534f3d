/** Replication's part for the whole job: what replicas say of each other is told to the user, once. */
import type { JobPart } from "../job-part.ts";
import { type DivergedWords, divergenceText } from "./comparing/divergence.ts";

export class ReplicationJob implements Omit<JobPart, "forNode" | "tick" | "nextTimeMs"> {
  readonly #note: (message: string) => void;
  #hasDiverged = false;

  constructor(note: (message: string) => void) {
    this.#note = note;
  }

  /** Several replicas of several ranks find it. */
  rankSaid(_process: number, words: unknown): void {
    if (this.#hasDiverged) return;
    this.#hasDiverged = true;
    this.#note(divergenceText(words as DivergedWords));
  }

  /** Nobody is started again. */
  prepare(): void {}
  mayCommit(): boolean {
    return false;
  }
  committed(): void {}
}
