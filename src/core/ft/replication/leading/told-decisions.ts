/** Decisions of the leader that the program of this process has not come to yet. */
import { lives } from "../../../base/saved-classes.ts";
import type { ChoiceKind } from "../../choices.ts";
import type { Decision } from "./decision-log.ts";

export const DecisionKind = {
  /** Which message a receive from any source takes. Words: number of the receive, counted from 1, source, number of the message. */
  MATCH: 1,
  /** A receive was cancelled. Word: its number. */
  CANCELLED: 2,
  /** A receive from a named source had its message when the program wanted to cancel it. Word: its number. */
  CAME: 3,
  /** "Nothing yet" was said. Word: how often in a row. */
  NOTHING: 4,
  /** Any other choice. Words: its kind, what it came to. */
  CHOICE: 5,
} as const;

/** The message that a receive takes. */
interface ToldMatch {
  readonly source: number;
  readonly sequence: number;
}

/** `kind` 0: nothing was there, `times` times in a row. */
interface ToldChoice {
  readonly kind: number;
  times: number;
  readonly outcome: readonly number[];
}

/** Choices that are over leave the list when they are so many. */
const overMax = 256;

export class ToldDecisions {
  private readonly matches = new Map<number, ToldMatch>();
  private readonly cancelled = new Set<number>();
  private readonly came = new Set<number>();
  private readonly choices: ToldChoice[] = [];
  private next = 0;

  add([kind, ...words]: Decision): void {
    switch (kind) {
      case DecisionKind.MATCH:
        this.matches.set(words[0]!, { source: words[1]!, sequence: words[2]! });
        return;
      case DecisionKind.CANCELLED:
        this.cancelled.add(words[0]!);
        return;
      case DecisionKind.CAME:
        this.came.add(words[0]!);
        return;
      case DecisionKind.NOTHING:
        this.choices.push({ kind: 0, times: words[0]!, outcome: [] });
        return;
      case DecisionKind.CHOICE:
        this.choices.push({ kind: words[0]!, times: 1, outcome: words.slice(1) });
    }
  }

  takeMatch(receive: number): ToldMatch | undefined {
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

  /** Is it known whether that receive is cancelled when the program wants it? */
  knowsEndOf(receive: number): boolean {
    return this.cancelled.has(receive) || this.came.has(receive);
  }

  get hasChoice(): boolean {
    return this.next < this.choices.length;
  }

  /** As `Choices.replay`. `passed`: the decision is used up. */
  takeChoice(kind: ChoiceKind, passed: () => void): readonly number[] | null | undefined {
    const choice = this.choices[this.next];
    if (choice === undefined) return undefined;
    if (choice.kind !== 0 && choice.kind !== kind) {
      throw new Error(
        `Cannot follow the leader: the program makes a choice of kind ${kind} where the leading replica made one of kind ` +
          `${choice.kind}; it does something that replication does not see (a file that changed, a thread of its own)`,
      );
    }
    if (--choice.times === 0) {
      passed();
      this.next++;
      this.clean();
    }
    return choice.kind === 0 ? null : choice.outcome;
  }

  private clean(): void {
    if (this.next !== this.choices.length && this.next < overMax) return;
    this.choices.splice(0, this.next);
    this.next = 0;
  }
}

lives({ ToldDecisions });
