/** Ranks that somebody has to look after: noted any number of times, visited once. (A `Set` makes a new table whenever it is cleared.) */
export class NotedRanks {
  readonly #isNoted: boolean[] = [];
  #noted: number[] = [];

  get isEmpty(): boolean {
    return this.#noted.length === 0;
  }

  add(rank: number): void {
    if (this.#isNoted[rank] === true) return;
    this.#isNoted[rank] = true;
    this.#noted.push(rank);
  }

  /** Those that are noted now, in their order; one that is noted again when it has been visited is for the next time. */
  visit(visit: (rank: number) => void): void {
    const ranks = this.#noted;
    this.#noted = [];
    for (const rank of ranks) {
      this.#isNoted[rank] = false;
      visit(rank);
    }
  }
}
