/**
 * When a process that gives no sign of life is taken for dead. Silence is counted in the watcher's own waking time. Where others leave
 * a process no processor it is silent too; therefore it is not dead unless the operating system has not seen it at work for half
 * the patience.
 */
export interface Patience {
  /** Silence after which it is dead. */
  readonly patienceMs: number;
  /** The same while the operating system sees it at work: then it hangs. At least `patienceMs`. */
  readonly starvedPatienceMs: number;
  /** How long a process may be idle before its first sign of life; then it is dead. At least `patienceMs`. */
  readonly startPatienceMs: number;
  /** The same while the operating system sees it at work: then its start hangs. At least `startPatienceMs`. */
  readonly starvedStartPatienceMs: number;
}

export class Silence {
  readonly #patience: Patience;
  #hasSpoken = false;
  #silentMs = 0;
  /** What the operating system had seen of it when it was last asked in this silence; undefined: it was not. */
  #work: number | undefined;
  /** How long the silence had lasted when work was last seen in it. */
  #workedMs = 0;

  constructor(patience: Patience) {
    this.#patience = patience;
  }

  get ms(): number {
    return this.#silentMs;
  }

  /** Anything at all has come from it. */
  heard(): void {
    this.#hasSpoken = true;
    this.#silentMs = 0;
    this.#work = undefined;
    this.#workedMs = 0;
  }

  /** This much time has passed. True: the process has been silent for too long. `work` changes while the process does anything. */
  lasts(stepMs: number, work: () => number): boolean {
    const { patienceMs, startPatienceMs, starvedPatienceMs, starvedStartPatienceMs } = this.#patience;
    this.#silentMs += stepMs;
    if (this.#silentMs <= patienceMs / 2) return false;
    const before = this.#work;
    this.#work = work();
    // Whether anything has been done is known from the second look on.
    if (before === undefined) return false;
    if (this.#work !== before) this.#workedMs = this.#silentMs;
    const idleMs = this.#silentMs - this.#workedMs;
    if (!this.#hasSpoken) return idleMs > startPatienceMs || this.#silentMs > starvedStartPatienceMs;
    return this.#silentMs > starvedPatienceMs || (this.#silentMs > patienceMs && idleMs > patienceMs / 2);
  }
}
