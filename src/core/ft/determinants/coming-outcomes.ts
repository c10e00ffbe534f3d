/**
 * Outcomes that are known before the program comes to them: of its life before, or of the replica that leads it. Receives and cancellations are found by
 * their numbers, all other choices come in their order.
 */
import type { ChoiceKind } from "../choices.ts";
import { DeterminantKind } from "./determinant-stream.ts";

/** The message that a receive takes. */
interface KnownMatch {
  readonly source: number;
  readonly sequence: number;
}

/** `kind` 0: nothing was there, `times` times in a row. */
interface KnownChoice {
  readonly kind: ChoiceKind | 0;
  times: number;
  readonly outcome: readonly number[];
}

export class ComingOutcomes {
  protected readonly matches = new Map<number, KnownMatch>();
  protected readonly cancelled = new Set<number>();
  /** Receives that had their message when the program wanted to cancel them. */
  protected readonly came = new Set<number>();
  protected readonly choices: KnownChoice[] = [];
  /** Those before it are over. */
  protected next = 0;

  protected know(kind: DeterminantKind, words: readonly number[]): void {
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
        this.choices.push({ kind: words[0] as ChoiceKind, times: 1, outcome: words.slice(1) });
    }
  }

  takeMatch(receive: number): KnownMatch | undefined {
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

  /**
   * As `Choices.replay`. When the choice has come about as often as it is known to, `usedUp` is called. A program that makes another choice is not the
   * one that is known: `refusal` says what cannot be done with it, and who made the choice.
   */
  protected takeNext(
    kind: ChoiceKind,
    usedUp: () => void,
    refusal: (known: ChoiceKind) => string,
  ): readonly number[] | null | undefined {
    const choice = this.choices[this.next];
    if (choice === undefined) return undefined;
    if (choice.kind !== 0 && choice.kind !== kind) {
      const cause = "it does something that the protocol does not see (a file that changed, a thread of its own)";
      throw new Error(`${refusal(choice.kind)}; ${cause}`);
    }
    if (--choice.times === 0) {
      this.next++;
      usedUp();
    }
    return choice.kind === 0 ? null : choice.outcome;
  }
}
