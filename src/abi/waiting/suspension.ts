/**
 * How a process stops inside an MPI call and goes on there later, perhaps in another thread or on another machine.
 *
 * Somebody wants it to stop: a word that others may write says so. At its next capture point (an import that communicates or
 * waits) or in the middle of a wait the import starts Asyncify's unwinding and returns; the stack is written into the
 * program's memory, and `_start` returns. To go on, the world starts the rewinding and calls `_start` again: the same import
 * is called with the same arguments, and goes on with what it left here, or from its beginning when it had begun nothing.
 */
import { SUSPENDED } from "../../core/base/capture-points.ts";
import { lives } from "../../core/base/saved-classes.ts";
import type { Program } from "../program.ts";
import type { Continuation } from "./callbacks.ts";

/** The word by which others make a process stop: not 0, it shall. */
export interface StopWord {
  readonly words: Int32Array;
  readonly at: number;
}

const always = (): boolean => true;
const nothing = (): void => undefined;

/** What the world does with Asyncify. */
interface Unwinding {
  start(): void;
  rewound(): void;
}

export class Suspension {
  static readonly unsaved = {
    words: null,
    at: 0,
    unwinding: null,
    givesWay: false,
    isReady: always,
    beforeUnwinding: nothing,
  };
  readonly words: Int32Array;
  readonly at: number;
  unwinding: Unwinding | null = null;
  /** The stack is being put back: the import that is called next goes on. */
  isRewinding = false;
  /** Another process of its thread shall have a turn: it stops at the next capture point. */
  givesWay = false;
  /** Would the process, which has stopped in a wait, find what it waits for? Asked by whoever runs several in one thread. */
  isReady: () => boolean = always;
  /** What a data plane has begun becomes the engine's, which images know. */
  beforeUnwinding: () => void = nothing;
  /** How it goes on; null: from the beginning. */
  private next: Continuation | null = null;

  constructor({ words, at }: StopWord) {
    this.words = words;
    this.at = at;
  }

  get isWanted(): boolean {
    return this.words[this.at] !== 0;
  }

  /** Stops here, waiting for `isReady`; later `next` is resumed. The result is the import's answer. */
  stop(next: Continuation | null, isReady: () => boolean = always): number {
    this.next = next;
    this.isReady = isReady;
    return SUSPENDED;
  }

  /** The stack has been put back. */
  goOn(program: Program): void {
    this.isRewinding = false;
    program.process.pass.setOutside(!program.isRunning);
    this.unwinding!.rewound();
  }

  /** An import that is called while something is unusual: it shall stop, or go on. */
  enter(program: Program, call: () => number): number {
    if (!this.isRewinding) {
      // A data plane has begun the call: it goes on, and stops in its wait.
      if (program.process.pass.meetings?.isAtGate === true) return this.answered(call());
      this.givesWay = false;
      this.isReady = always;
      return this.unwind();
    }
    this.goOn(program);
    const { next } = this;
    this.next = null;
    return this.answered(next === null ? call() : resumed(program, next));
  }

  private answered(answer: number): number {
    return answer === SUSPENDED ? this.unwind() : answer;
  }

  /** Has the stack unwound; the import's result counts for nothing then. */
  unwind(): number {
    this.beforeUnwinding();
    this.unwinding!.start();
    return 0;
  }
}

function resumed(program: Program, next: Continuation): number {
  try {
    return next.resume(program, 0);
  } catch (error) {
    return program.raise(error);
  }
}

lives({ Suspension });
