/**
 * What all members of a file do together, in steps. Everybody does its part of a step, then all of them tell each other how it
 * went: if one has failed the whole has, everywhere, and no further step is taken. So errors are agreed on, and what one does
 * in a step is seen by all in the next.
 */
import { MpiError } from "../../core/base/mpi-error.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import { WordExchange } from "../../core/process/communicators/word-exchange.ts";
import type { Process } from "../../core/process/process.ts";
import { Task } from "../../core/process/task.ts";

/** Numbers are told in two words: exact up to 2^53. */
const wordValues = 2 ** 32;
export const wordsOf = (value: number): number[] => [(value % wordValues) | 0, Math.floor(value / wordValues)];
export const numberAt = (words: ArrayLike<number>, at: number): number =>
  (words[at]! >>> 0) + words[at + 1]! * wordValues;

export abstract class Together extends Task {
  /** The failure of this member; empty where another member failed. */
  why = "";
  /** The member that failed first, −1: none. */
  culprit = -1;
  /** The step that is under way, from 0. */
  step = 0;
  private exchange: WordExchange | null = null;

  /** The members that take part; null: they cannot talk to each other yet. */
  protected abstract members(process: Process): Communicator | null;

  /**
   * Our part of a step, and numbers for the others, as many everywhere; null: no member has such a step. May throw, but
   * not where it would answer null elsewhere.
   */
  protected abstract act(step: number): readonly number[] | null;

  /** All have done their part; what each of them said, by rank. What it throws all throw. */
  protected heard(_step: number, _numbers: readonly (readonly number[])[]): void {}

  /** It has failed: what was done is taken back as far as it can be. */
  protected undo(): void {}

  override advance(process: Process): boolean {
    if (!this.isOver(process)) return false;
    if (this.error !== 0) this.undo();
    return true;
  }

  private isOver(process: Process): boolean {
    const comm = this.members(process);
    if (comm === null) return this.error !== 0;
    for (;;) {
      if (this.exchange === null) {
        const words = this.ownWords();
        if (words === null) return true;
        this.exchange = new WordExchange(comm, words);
      }
      const all = this.exchange.advance(process);
      if (all === null) return false;
      const { error } = this.exchange;
      this.exchange = null;
      if (error !== 0) this.error = error;
      else this.judge(all, all.length / comm.size);
      if (this.error !== 0) return true;
      this.step++;
    }
  }

  /** An error code, then the numbers; after an error their count is that of `numberCount`. */
  private ownWords(): readonly number[] | null {
    try {
      const numbers = this.act(this.step);
      return numbers === null ? null : [0, ...numbers.flatMap(wordsOf)];
    } catch (error) {
      if (!(error instanceof MpiError)) throw error;
      this.why = error.message;
      return [error.code, ...new Array<number>(2 * this.numberCount(this.step)).fill(0)];
    }
  }

  /** How many numbers are told in a step. */
  protected numberCount(_step: number): number {
    return 0;
  }

  private judge(words: Int32Array, each: number): void {
    for (let at = 0; at < words.length; at += each) {
      if (words[at] === 0) continue;
      if (this.culprit < 0) this.culprit = at / each;
      this.error ||= words[at]!;
    }
    if (this.error !== 0) return;
    const numbers = Array.from({ length: words.length / each }, (_, rank) =>
      Array.from({ length: (each - 1) / 2 }, (_, i) => numberAt(words, rank * each + 1 + 2 * i)),
    );
    try {
      this.heard(this.step, numbers);
    } catch (error) {
      if (!(error instanceof MpiError)) throw error;
      this.error = error.code;
      this.why = error.message;
    }
  }
}
