/**
 * What a TypeScript program can observe and that may differ in a second run, under a protocol that replays
 * (core/ft/choices.ts): what tests and probes say, which of several requests a wait ends. Calls come here only when somebody is
 * there to ask. The C binding has the same in abi/choices.ts; a wait can be interrupted there.
 */
import { assert } from "../core/base/assert.ts";
import { ChoiceKind, type Choices, note, type Outcome } from "../core/ft/choices.ts";
import type { Host } from "./host.ts";
import type { Request } from "./request.ts";

/** One choice that a call offers. */
export interface Choice {
  readonly kind: ChoiceKind;
  /** What it comes to if it is made now; null: nothing yet. */
  now(): Outcome;
  /** Is that outcome true here as well? */
  isSo(outcome: readonly number[]): boolean;
}

/** For calls that look. */
export function chooseNow(
  host: Host,
  choices: Choices,
  choice: Choice,
  how: "with progress" | "without progress" = "with progress",
): Outcome {
  const known = choices.replay(choice.kind);
  // A program that looks again and again must not do so for ever.
  if (how === "with progress" || known !== undefined) host.look();
  if (known === undefined) {
    const outcome = choice.now();
    note(choices, choice.kind, outcome);
    return outcome;
  }
  if (known !== null) host.waitUntil(() => choice.isSo(known));
  return known;
}

/** For calls that wait. */
export function chooseLater(host: Host, choices: Choices, choice: Choice): readonly number[] {
  const known = choices.replay(choice.kind);
  assert(known !== null, "a wait ends with something");
  if (known !== undefined) {
    host.waitUntil(() => choice.isSo(known));
    return known;
  }
  let outcome: Outcome = null;
  host.waitUntil(() => {
    outcome = choice.now();
    return outcome !== null;
  });
  choices.made(choice.kind, outcome!);
  return outcome!;
}

type Requests = readonly Request<unknown>[];

const nothing: readonly number[] = [];

/** Are all of these complete? */
export function allDone(requests: Requests): Choice {
  const isDone = () => requests.every((request) => request.isDone);
  return { kind: ChoiceKind.TEST, now: () => (isDone() ? nothing : null), isSo: isDone };
}

const isEnded = (requests: Requests, index: number): boolean => requests[index]!.isActive && requests[index]!.isDone;

export const indicesDone = (requests: Requests): number[] =>
  [...requests.keys()].filter((index) => isEnded(requests, index));

/** Which of these is complete? */
export function anyDone(requests: Requests): Choice {
  return {
    kind: ChoiceKind.ANY,
    now() {
      const index = requests.findIndex((_, i) => isEnded(requests, i));
      return index < 0 ? null : [index];
    },
    isSo: ([index]) => isEnded(requests, index!),
  };
}

export function someDone(requests: Requests): Choice {
  return {
    kind: ChoiceKind.SOME,
    now() {
      const done = indicesDone(requests);
      return done.length === 0 ? null : done;
    },
    isSo: (outcome) => outcome.every((index) => isEnded(requests, index)),
  };
}
