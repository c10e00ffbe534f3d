/** Somebody waits until checkpoints of some sets count, and not for ever: a rank that computes and makes no call is not captured. */

const savingMsMax = 5_000;

interface Saving {
  readonly sets: Set<number>;
  readonly over: () => void;
}

export class Savings {
  readonly #savings = new Set<Saving>();

  /** Fulfilled when a checkpoint of each of these sets counts that did not before, or after a while. */
  begin(sets: readonly number[]): Promise<void> {
    return new Promise((resolve) => {
      const over = (): void => {
        clearTimeout(late);
        this.#savings.delete(saving);
        resolve();
      };
      const late = setTimeout(over, savingMsMax);
      const saving: Saving = { sets: new Set(sets), over };
      this.#savings.add(saving);
    });
  }

  committed(set: number): void {
    for (const { sets, over } of this.#savings) {
      if (sets.delete(set) && sets.size === 0) over();
    }
  }

  /** Nothing is waited for any more. */
  end(): void {
    for (const { over } of this.#savings) over();
  }
}
