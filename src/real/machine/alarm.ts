/**
 * The one timer of a core that reads no clock: the core says when it wants to be called next, and may say otherwise after any call
 * to it. Times are those of `performance.now()`.
 */

/** A core that wants to be called at certain times. */
interface Timed {
  /** Infinity: it does not. */
  readonly nextTimeMs: number;
}

/** Timers reach no further; a later time takes several. */
const timerMsMax = 2 ** 31 - 1;

export class Alarm {
  readonly #core: Timed;
  readonly #ring: (nowMs: number) => void;
  #timer: NodeJS.Timeout | undefined;
  #atMs = Number.POSITIVE_INFINITY;
  #isOver = false;

  /** `ring` calls the core. */
  constructor(core: Timed, ring: (nowMs: number) => void) {
    this.#core = core;
    this.#ring = ring;
  }

  /** After every call to the core. */
  set(): void {
    const atMs = this.#core.nextTimeMs;
    if (this.#isOver || atMs === this.#atMs) return;
    clearTimeout(this.#timer);
    this.#atMs = atMs;
    if (atMs === Number.POSITIVE_INFINITY) return;
    const inMs = Math.min(timerMsMax, Math.max(0, atMs - performance.now()));
    // The process need not stay for it: it stays for its nodes.
    this.#timer = setTimeout(() => this.#rings(), inMs).unref();
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #rings(): void {
    this.#atMs = Number.POSITIVE_INFINITY;
    const nowMs = performance.now();
    // A timer may be early by a fraction of a millisecond, and one that reaches no further comes far too early.
    if (nowMs >= this.#core.nextTimeMs) this.#ring(nowMs);
    this.set();
  }
}
