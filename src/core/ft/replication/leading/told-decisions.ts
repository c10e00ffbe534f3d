/** Decisions of the leader that the program of this process has not come to yet. */
import { lives } from "../../../base/saved-classes.ts";
import type { ChoiceKind } from "../../choices.ts";
import { ComingOutcomes } from "../../determinants/coming-outcomes.ts";
import type { DeterminantKind } from "../../determinants/determinant-stream.ts";
import type { Decision } from "./decision-log.ts";

/** Choices that are over leave the list when they are so many. */
const overMax = 256;

export class ToldDecisions extends ComingOutcomes {
  add([kind, ...words]: Decision): void {
    this.know(kind as DeterminantKind, words);
  }

  /** Is it known whether that receive is cancelled when the program wants it? */
  knowsEndOf(receive: number): boolean {
    return this.cancelled.has(receive) || this.came.has(receive);
  }

  get hasChoice(): boolean {
    return this.next < this.choices.length;
  }

  /** `passed`: the decision is used up. */
  takeChoice(kind: ChoiceKind, passed: () => void): readonly number[] | null | undefined {
    const usedUp = (): void => {
      passed();
      this.clean();
    };
    return this.takeNext(
      kind,
      usedUp,
      (known) =>
        `Cannot follow the leader: the program makes a choice of kind ${kind} where the leading replica made one of kind ${known}`,
    );
  }

  private clean(): void {
    if (this.next !== this.choices.length && this.next < overMax) return;
    this.choices.splice(0, this.next);
    this.next = 0;
  }
}

lives({ ToldDecisions });
