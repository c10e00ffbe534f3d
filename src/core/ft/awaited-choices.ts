/** The choices of a program whose process may block: a choice that is made elsewhere is waited for in the call that asks for it. */
import type { ChoiceKind, Choices, Outcome } from "./choices.ts";

/**
 * A process that is asked to stop ends its waits. Where a call cannot be left in its middle, because it would choose what has been chosen,
 * it waits on.
 */
export function waitThrough(wait: (isOver: () => boolean) => unknown, isOver: () => boolean): void {
  while (!isOver()) wait(isOver);
}

export class AwaitedChoices implements Choices {
  readonly isReady = true;
  readonly #choices: Choices;
  readonly #wait: (isOver: () => boolean) => unknown;

  constructor(choices: Choices, wait: (isOver: () => boolean) => unknown) {
    this.#choices = choices;
    this.#wait = wait;
  }

  replay(kind: ChoiceKind): Outcome | undefined {
    if (!this.#choices.isReady) waitThrough(this.#wait, () => this.#choices.isReady);
    return this.#choices.replay(kind);
  }

  made(kind: ChoiceKind, outcome: readonly number[]): void {
    this.#choices.made(kind, outcome);
  }

  nothing(kind: ChoiceKind): void {
    this.#choices.nothing(kind);
  }
}
