/** Somebody waits until checkpoints of some sets count, and not for ever: a rank that computes and makes no call is not captured. */

interface Saving {
  readonly sets: Set<number>;
  readonly over: (isSaved: boolean) => void;
}

export class Savings {
  readonly #savings = new Set<Saving>();

  /** True: a checkpoint of each of these sets counts that did not before. False: it took longer than `msMax`, or nothing is waited for any more. */
  begin(
    sets: readonly number[],
    msMax: number,
  ): { readonly done: Promise<boolean>; readonly missing: Iterable<number> } {
    const missing = new Set(sets);
    const done = new Promise<boolean>((resolve) => {
      const over = (isSaved: boolean): void => {
        clearTimeout(late);
        this.#savings.delete(saving);
        resolve(isSaved);
      };
      const late = Number.isFinite(msMax) ? setTimeout(over, msMax, false) : undefined;
      const saving: Saving = { sets: missing, over };
      this.#savings.add(saving);
    });
    return { done, missing };
  }

  committed(set: number): void {
    for (const { sets, over } of this.#savings) {
      if (sets.delete(set) && sets.size === 0) over(true);
    }
  }

  /** Nothing is waited for any more. */
  end(): void {
    for (const { over } of this.#savings) over(false);
  }
}
