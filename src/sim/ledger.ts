/** What ranks of a repairing program have seen, where all that have seen it must have seen the same; and everything that was wrong. */
import type { Violation } from "./judge.ts";

export class Ledger {
  readonly violations: Violation[] = [];
  readonly counts = { messages: 0, collectives: 0, agreements: 0, shrinks: 0, files: 0, joined: 0 };
  readonly #taken = new Map<string, number>();
  readonly #seen = new Map<string, { readonly rank: number; readonly what: string }>();

  /** Also the word of a rank that dies afterwards counts. */
  same(matter: string, rank: number, what: string): void {
    const first = this.#seen.get(matter);
    if (first === undefined) this.#seen.set(matter, { rank, what });
    else if (first.what !== what) {
      this.wrong("all see the same", `${matter}: ${first.what} at rank ${first.rank}, ${what} at rank ${rank}`);
    }
  }

  /** That belongs to one rank alone. */
  once(matter: string, rank: number): void {
    const owner = this.#taken.get(matter);
    if (owner !== undefined) this.wrong("what is given once", `${matter}: to rank ${owner} and to rank ${rank}`);
    this.#taken.set(matter, rank);
  }

  wrong(invariant: string, what: string): void {
    this.violations.push({ invariant, what });
  }
}
