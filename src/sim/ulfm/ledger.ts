/** What ranks of a repairing program have seen, where all that have seen it must have seen the same; and everything that was wrong. */
import type { Violation } from "../judge.ts";

export class Ledger {
  readonly violations: Violation[] = [];
  readonly counts = { messages: 0, collectives: 0, agreements: 0, shrinks: 0 };
  readonly #seen = new Map<string, { readonly rank: number; readonly what: string }>();

  /** Also the word of a rank that dies afterwards counts. */
  same(matter: string, rank: number, what: string): void {
    const first = this.#seen.get(matter);
    if (first === undefined) this.#seen.set(matter, { rank, what });
    else if (first.what !== what) {
      this.wrong("all see the same", `${matter}: ${first.what} at rank ${first.rank}, ${what} at rank ${rank}`);
    }
  }

  wrong(invariant: string, what: string): void {
    this.violations.push({ invariant, what });
  }
}
