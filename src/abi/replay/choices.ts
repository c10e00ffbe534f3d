/**
 * Calls that tell a C program something which may differ in a second run: what tests and probes say, which of several requests a
 * wait ends (core/binding/choices.ts). Without a protocol that replays, a call looks or waits, and tells what it found.
 *
 * With one, what a call comes to is noted when it is told to the program, not before: a call that was interrupted and is made
 * again has chosen nothing. In replay "nothing yet" is told without looking, though progress is made; anything else is waited
 * for. What is known has been taken from the replay, so a call that is interrupted in that wait carries it along (`CallAgain`).
 */
import { assert } from "../../core/base/assert.ts";
import type { RecordId } from "../../core/base/brand.ts";
import {
  anyChoice,
  type Choice,
  messageChoice,
  messageOf,
  type ProbePattern,
  type RequestList,
  someChoice,
  testChoice,
} from "../../core/binding/choices.ts";
import { note, type Outcome } from "../../core/ft/choices.ts";
import type { CRequest } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import { type CallAgain, interrupted, look, waitUntil } from "../waiting/waiting.ts";

/** Tells the program what a choice came to, which is true. */
type Tell = (outcome: Outcome) => number;

/** Calls that look: MPI_Test and its like, MPI_Iprobe. */
function chooseNow(program: Program, choice: Choice, tell: Tell, again: CallAgain): number {
  const { choices } = program.operations;
  if (choices === null) return interrupted(program, again) ?? tell(choice.now());
  const known = program.takeKnown(choice.kind);
  if (known === undefined) {
    const finish = () => {
      const outcome = choice.now();
      note(choices, choice.kind, outcome);
      return tell(outcome);
    };
    return look(program, finish, again);
  }
  again.known = known;
  if (known === null) return look(program, () => tell(null), again);
  return waitFor(
    program,
    choice,
    () => choice.isSo(known),
    () => tell(known),
    again,
  );
}

/** Calls that wait: MPI_Waitany and MPI_Waitsome, MPI_Probe from anybody. */
function chooseLater(program: Program, choice: Choice, tell: Tell, again: CallAgain): number {
  const { choices } = program.operations;
  const known = choices === null ? undefined : program.takeKnown(choice.kind);
  assert(known !== null, "a wait ends with something");
  let outcome: Outcome = known ?? null;
  const isReady = () => {
    if (known !== undefined) return choice.isSo(known);
    outcome = choice.now();
    return outcome !== null;
  };
  const finish = () => {
    if (choices !== null && known === undefined) note(choices, choice.kind, outcome);
    return tell(outcome);
  };
  again.known = known;
  return waitFor(program, choice, isReady, finish, again);
}

/** Waits until `isReady`, then `finish`; throws when the choice can come to nothing any more. */
function waitFor(
  program: Program,
  choice: Choice,
  isReady: () => boolean,
  finish: () => number,
  again: CallAgain,
): number {
  const finishOrThrow = () => {
    if (isReady()) return finish();
    throw choice.failure()!;
  };
  return waitUntil(program, () => isReady() || choice.failure() !== null, finishOrThrow, again);
}

type Requests = readonly (CRequest | null)[];

export const isActive = (request: CRequest | null | undefined): request is CRequest =>
  request !== null && request !== undefined && request.record >= 0;

/** Handles that are MPI_REQUEST_NULL, and persistent requests that are not started, are not active. */
const listOf = ({ operations }: Program, requests: Requests): RequestList => ({
  length: requests.length,
  isActive: (index) => isActive(requests[index]),
  isDone: (index) => operations.isComplete(requests[index]!.record),
});

/** Is it complete, or not active? */
export const isDone = ({ operations }: Program, request: CRequest | null): boolean =>
  !isActive(request) || operations.isComplete(request.record);

export function allDone(program: Program, requests: Requests): boolean {
  for (const request of requests) if (!isDone(program, request)) return false;
  return true;
}

/** Are all of these complete, those that are not active aside? */
export function chooseTest(
  program: Program,
  requests: Requests,
  tell: (isDone: boolean) => number,
  again: CallAgain,
): number {
  if (program.operations.choices === null) return interrupted(program, again) ?? tell(allDone(program, requests));
  // Where none is active there is nothing to choose.
  if (!requests.some(isActive)) return look(program, () => tell(true), again);
  return chooseNow(program, testChoice(listOf(program, requests)), (outcome) => tell(outcome !== null), again);
}

type TellOne = (index: number) => number;
type TellSome = (indices: readonly number[]) => number;

const one =
  (tell: TellOne): Tell =>
  (outcome) =>
    tell(outcome === null ? -1 : outcome[0]!);
const some =
  (tell: TellSome): Tell =>
  (outcome) =>
    tell(outcome ?? []);

/** Which of these is complete; −1: none yet. At least one is active, here and below. */
export function chooseAny(program: Program, requests: Requests, tell: TellOne, again: CallAgain): number {
  return chooseNow(program, anyChoice(listOf(program, requests)), one(tell), again);
}

export function chooseSome(program: Program, requests: Requests, tell: TellSome, again: CallAgain): number {
  return chooseNow(program, someChoice(listOf(program, requests)), some(tell), again);
}

/** The same for calls that wait for at least one. */
export function chooseAnyLater(program: Program, requests: Requests, tell: TellOne, again: CallAgain): number {
  return chooseLater(program, anyChoice(listOf(program, requests)), one(tell), again);
}

export function chooseSomeLater(program: Program, requests: Requests, tell: TellSome, again: CallAgain): number {
  return chooseLater(program, someChoice(listOf(program, requests)), some(tell), again);
}

type TellMessage = (envelope: RecordId) => number;

/** The envelope of the message that a probe finds; −1: none yet. It stays in its queue. */
export function chooseMessage(program: Program, pattern: ProbePattern, tell: TellMessage, again: CallAgain): number {
  const { operations } = program;
  if (operations.choices === null) {
    return interrupted(program, again) ?? tell(operations.probe(pattern.comm.core, pattern.source, pattern.tag));
  }
  const told: Tell = (outcome) => tell(messageOf(operations, outcome));
  return chooseNow(program, messageChoice(operations, pattern), told, again);
}

export function chooseMessageLater(
  program: Program,
  pattern: ProbePattern,
  tell: TellMessage,
  again: CallAgain,
): number {
  const { operations } = program;
  const told: Tell = (outcome) => tell(messageOf(operations, outcome));
  return chooseLater(program, messageChoice(operations, pattern), told, again);
}
