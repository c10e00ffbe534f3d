/**
 * How much a thread counts beside others where all processors are at work. Linux knows priorities of threads, and a number of 0 is the thread that calls; elsewhere the same call is about the
 * whole process, so nothing is done there. Whoever may not raise a priority (most users) cannot take back what was given: such a thread gives less.
 */
import { getPriority, setPriority } from "node:os";

/** As `nice` counts: a thread gets next to nothing where another one computes, or a third of what that one has. */
const lowIfReturning = 19;
const lowForGood = 5;

interface PriorityCalls {
  get(): number;
  /** Throws where it is not allowed. */
  set(priority: number): void;
}

const ofThisThread: PriorityCalls | null =
  process.platform === "linux" ? { get: () => getPriority(0), set: (priority) => setPriority(0, priority) } : null;

export class ThreadPriority {
  readonly #calls: PriorityCalls | null;
  #usual: number | null = null;
  #isLow = false;
  /** Is it known whether the thread may return? */
  #mayReturn: boolean | null = null;

  constructor(calls: PriorityCalls | null = ofThisThread) {
    this.#calls = calls;
  }

  /** Others come first from now on. */
  giveWay(): void {
    const calls = this.#calls;
    if (calls === null) return;
    this.#usual ??= calls.get();
    this.#mayReturn ??= this.#tryToReturn(calls, this.#usual);
    this.#isLow = true;
    this.#set(calls, this.#usual + (this.#mayReturn ? lowIfReturning : lowForGood));
  }

  /** It counts as before, if that is allowed. */
  takeBack(): void {
    if (!this.#isLow || this.#mayReturn !== true) return;
    this.#isLow = false;
    this.#set(this.#calls!, this.#usual!);
  }

  /** The smallest step down, and back. */
  #tryToReturn(calls: PriorityCalls, usual: number): boolean {
    return this.#set(calls, usual + 1) && this.#set(calls, usual);
  }

  #set(calls: PriorityCalls, priority: number): boolean {
    try {
      calls.set(priority);
      return true;
    } catch {
      return false;
    }
  }
}
