/** How a TypeScript program makes choices that a protocol replays (core/binding/choices.ts). Its calls are never interrupted. */
import { assert } from "../core/base/assert.ts";
import type { Choice, RequestList } from "../core/binding/choices.ts";
import type { Operations } from "../core/binding/operations.ts";
import { type Choices, note, type Outcome } from "../core/ft/choices.ts";

/** For calls that look. */
export function chooseNow(
  operations: Operations,
  choices: Choices,
  choice: Choice,
  how: "with progress" | "without progress" = "with progress",
): Outcome {
  const known = choices.replay(choice.kind);
  // A program that looks again and again must not do so for ever.
  if (how === "with progress" || known !== undefined) operations.look();
  if (known === undefined) {
    const outcome = choice.now();
    if (outcome === null) throwFailure(choice);
    note(choices, choice.kind, outcome);
    return outcome;
  }
  if (known !== null) waitFor(operations, choice, () => choice.isSo(known));
  return known;
}

/** For calls that wait. */
export function chooseLater(operations: Operations, choices: Choices, choice: Choice): readonly number[] {
  const known = choices.replay(choice.kind);
  assert(known !== null, "a wait ends with something");
  if (known !== undefined) {
    waitFor(operations, choice, () => choice.isSo(known));
    return known;
  }
  let outcome: Outcome = null;
  waitFor(operations, choice, () => {
    outcome = choice.now();
    return outcome !== null;
  });
  choices.made(choice.kind, outcome!);
  return outcome!;
}

/** Waits until `isReady`; throws when the choice can come to nothing any more. */
function waitFor(operations: Operations, choice: Choice, isReady: () => boolean): void {
  let isOver = false;
  operations.waitUntil(() => {
    isOver = isReady();
    return isOver || choice.failure() !== null;
  });
  if (!isOver) throwFailure(choice);
}

function throwFailure(choice: Choice): void {
  const failure = choice.failure();
  if (failure !== null) throw failure;
}

interface Completing {
  readonly isActive: boolean;
  readonly isDone: boolean;
}

export const listOf = (requests: readonly Completing[]): RequestList => ({
  length: requests.length,
  isActive: (index) => requests[index]!.isActive,
  isDone: (index) => requests[index]!.isDone,
});
