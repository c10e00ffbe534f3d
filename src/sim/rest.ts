/**
 * A world at rest: nothing is left to happen, and some processes wait. They have waited long then, and ask those they wait for
 * (core/process/inquiries.ts). When all of them have been asked and nothing has come of it, they wait for ever.
 */
import { askedMax, type Inquiries } from "../core/process/inquiries.ts";

interface Resting {
  readonly steps: number;
  readonly core: { readonly inquiries: Pick<Inquiries, "verdicts"> };
}

export class Rest {
  readonly #roundsMax: number;
  #moves = -1;
  #rounds = 0;

  constructor(ranks: number) {
    this.#roundsMax = Math.ceil(ranks / askedMax) + 1;
  }

  /** Has anything come of the last questions, or are there processes that nobody has asked yet? */
  isWorthAsking(processes: readonly Resting[]): boolean {
    const moves = processes.reduce((sum, { steps, core }) => sum + steps + core.inquiries.verdicts, 0);
    this.#rounds = moves === this.#moves ? this.#rounds + 1 : 1;
    this.#moves = moves;
    return this.#rounds <= this.#roundsMax;
  }
}
