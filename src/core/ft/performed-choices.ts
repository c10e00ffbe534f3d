/**
 * Lets `ReplayedFiles`, which was made for lives that repeat the operations of earlier ones, work for replicas that repeat those of the
 * process that performs: what an operation came to is a choice there, and an entry of their common log here (`shared-operations.ts`).
 *
 * A process that does not perform waits inside the call until it is told; one whose turn has come performs. The host waits by letting
 * messages go on (`wait`).
 */
import type { ChoiceKind, Choices, Outcome } from "./choices.ts";
import type { SharedOperations } from "./shared-operations.ts";

/** Returns when that is so; messages and deaths are heard meanwhile. */
export type WaitFor = (isOver: () => boolean) => void;

export class PerformedChoices implements Choices {
  readonly #operations: SharedOperations;
  readonly #wait: WaitFor;
  /** The operation that is being performed changes something. */
  #isChange = false;

  constructor(operations: SharedOperations, wait: WaitFor) {
    this.#operations = operations;
    this.#wait = wait;
  }

  /** It waits itself. */
  get isReady(): boolean {
    return true;
  }

  replay(_kind: ChoiceKind): Outcome | undefined {
    this.#wait(() => this.#operations.isReady);
    const answer = this.#operations.ask();
    return answer.kind === "told" ? answer.entry.outcome : undefined;
  }

  /** The program goes on when all replicas that live know it. */
  made(_kind: ChoiceKind, outcome: readonly number[]): void {
    this.#isChange = false;
    this.#operations.append({ outcome, isRepeated: false });
    this.#wait(() => this.#operations.isHeld);
  }

  /** What was to be expected: of a change the others need know no more, and what only looks they do themselves. */
  nothing(_kind: ChoiceKind): void {
    this.#operations.append({ outcome: null, isRepeated: !this.#isChange });
    this.#isChange = false;
  }

  /** Returns when the performer may change a file: the others have read what they wanted to read before. */
  mayChange(): void {
    this.#isChange = true;
    this.#wait(() => this.#operations.mayChange);
  }
}
