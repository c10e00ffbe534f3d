/** The outcomes that a process has still to see again: its own entries of the set's stream, since the image it was restored from. */
import { assert } from "../../base/assert.ts";
import { lives } from "../../base/saved-classes.ts";
import type { ChoiceKind } from "../choices.ts";
import { determinantHeaderWords } from "./determinant-entries.ts";
import { DeterminantKind } from "./determinant-stream.ts";

/** The message that a receive took. */
interface ReplayedMatch {
  readonly source: number;
  readonly sequence: number;
}

/** `kind` 0: nothing was there, `times` times in a row. */
interface ReplayedChoice {
  readonly kind: ChoiceKind | 0;
  times: number;
  readonly outcome: readonly number[];
}

export class Replay {
  private readonly matches = new Map<number, ReplayedMatch>();
  private readonly cancelled = new Set<number>();
  /** Receives that had their message when the program wanted to cancel them. */
  private readonly came = new Set<number>();
  private readonly choices: ReplayedChoice[] = [];
  private next = 0;

  /** Nothing is left. */
  get isOver(): boolean {
    return this.matches.size === 0 && this.cancelled.size === 0 && this.came.size === 0 && this.choices.length === 0;
  }

  /** Takes those entries of a part of the stream that are of that rank. */
  add(rank: number, log: Int32Array): void {
    for (let at = 0; at < log.length; at += log[at]!) {
      assert(log[at]! >= determinantHeaderWords, "a determinant without a length");
      if (log[at + 1] !== rank) continue;
      const words = log.subarray(at + determinantHeaderWords, at + log[at]!);
      this.addOne(log[at + 2] as DeterminantKind, words);
    }
  }

  private addOne(kind: DeterminantKind, words: Int32Array): void {
    switch (kind) {
      case DeterminantKind.MATCH:
        this.matches.set(words[0]!, { source: words[1]!, sequence: words[2]! });
        return;
      case DeterminantKind.CANCELLED:
        this.cancelled.add(words[0]!);
        return;
      case DeterminantKind.CAME:
        this.came.add(words[0]!);
        return;
      case DeterminantKind.NOTHING:
        this.choices.push({ kind: 0, times: words[0]!, outcome: [] });
        return;
      case DeterminantKind.CHOICE:
        this.choices.push({ kind: words[0] as ChoiceKind, times: 1, outcome: [...words.subarray(1)] });
        return;
    }
  }

  takeMatch(receive: number): ReplayedMatch | undefined {
    const match = this.matches.get(receive);
    this.matches.delete(receive);
    return match;
  }

  takeCancelled(receive: number): boolean {
    return this.cancelled.delete(receive);
  }

  takeCame(receive: number): boolean {
    return this.came.delete(receive);
  }

  /** As `Choices.replay`. */
  takeChoice(kind: ChoiceKind): readonly number[] | null | undefined {
    this.passed();
    const choice = this.choices[this.next];
    if (choice === undefined) return undefined;
    if (choice.kind !== 0 && choice.kind !== kind) {
      throw new Error(
        `Cannot replay: the program makes a choice of kind ${kind} where its life before made one of kind ${choice.kind}; ` +
          "it does something that the protocol does not see (a file that changed, a thread of its own)",
      );
    }
    if (--choice.times === 0) this.next++;
    return choice.kind === 0 ? null : choice.outcome;
  }

  /** The program has gone on after the choice that was taken last: it has come about. */
  passed(): void {
    if (this.next === 0 || this.next !== this.choices.length) return;
    this.choices.length = 0;
    this.next = 0;
  }
}

lives({ Replay });
