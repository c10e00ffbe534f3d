/** The outcomes that a process has still to see again: its own entries of the set's stream, since the image it was restored from. */
import { assert } from "../../base/assert.ts";
import { lives } from "../../base/saved-classes.ts";
import type { ChoiceKind } from "../choices.ts";
import { ComingOutcomes } from "./coming-outcomes.ts";
import { determinantHeaderWords } from "./determinant-entries.ts";
import type { DeterminantKind } from "./determinant-stream.ts";

const goesOn = (): void => {};

export class Replay extends ComingOutcomes {
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
      this.know(log[at + 2] as DeterminantKind, [...words]);
    }
  }

  takeChoice(kind: ChoiceKind): readonly number[] | null | undefined {
    this.passed();
    return this.takeNext(
      kind,
      goesOn,
      (known) =>
        `Cannot replay: the program makes a choice of kind ${kind} where its life before made one of kind ${known}`,
    );
  }

  /** The program has gone on after the choice that was taken last: it has come about. */
  passed(): void {
    if (this.next === 0 || this.next !== this.choices.length) return;
    this.choices.length = 0;
    this.next = 0;
  }
}

lives({ Replay });
