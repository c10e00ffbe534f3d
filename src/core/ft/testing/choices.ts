/**
 * Choices for tests of the bindings: those of a life are written down, and a second life is given them again. The protocol has
 * nothing else to it; which message a wildcard receive takes is not pinned.
 */
import { assert } from "../../base/assert.ts";
import { lives } from "../../base/saved-classes.ts";
import { ChoiceKind, type Choices, type Outcome } from "../choices.ts";
import { PassThrough } from "../pass-through.ts";
import { Recording, RecordingProtocol } from "../recording-protocol.ts";

export interface TestChoice {
  readonly kind: ChoiceKind;
  readonly outcome: Outcome;
}

export class TestChoices implements Choices {
  readonly isReady = true;
  /** What the life before came to. */
  readonly known: readonly TestChoice[];
  /** How many of these have been taken. */
  taken = 0;
  /** What this life came to, the replayed part as well. */
  readonly all: TestChoice[] = [];

  constructor(known: readonly TestChoice[] = []) {
    this.known = known;
  }

  replay(kind: ChoiceKind): Outcome | undefined {
    const next = this.known[this.taken];
    if (next === undefined) return undefined;
    assert(next.kind === kind, `choice ${this.taken} was ${nameOf(next.kind)} and is ${nameOf(kind)}`);
    this.taken++;
    this.all.push(next);
    return next.outcome;
  }

  made(kind: ChoiceKind, outcome: readonly number[]): void {
    this.#add({ kind, outcome });
  }

  nothing(kind: ChoiceKind): void {
    this.#add({ kind, outcome: null });
  }

  #add(choice: TestChoice): void {
    assert(this.taken === this.known.length, `${nameOf(choice.kind)} is chosen, and was known`);
    assert(choice.outcome === null || choice.outcome.every((word) => word === (word | 0)), "outcomes are 32-bit words");
    this.all.push(choice);
  }
}

const nameOf = (kind: ChoiceKind): string =>
  Object.keys(ChoiceKind).find((name) => ChoiceKind[name as keyof typeof ChoiceKind] === kind)!;

export class TestProtocol extends RecordingProtocol {
  readonly #choices: TestChoices;

  constructor(choices: TestChoices) {
    super(new PassThrough(), new Recording());
    this.#choices = choices;
  }

  override get choices(): Choices {
    return this.#choices;
  }
}

lives({ TestProtocol });
