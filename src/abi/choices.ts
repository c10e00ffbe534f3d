/**
 * What a C program can observe and that may differ in a second run, under a protocol that replays (core/ft/choices.ts): what
 * tests and probes say, which of several requests a wait ends. Calls come here only when somebody is there to ask.
 *
 * Live, a call looks or waits, and what it comes to is noted when it is told to the program, not before: a call that was
 * interrupted and is made again has chosen nothing. In replay "nothing yet" is told without looking, though progress is made;
 * anything else is waited for. What is known has been taken from the replay, so a call that is interrupted in that wait
 * carries it along (`CallAgain`).
 */
import { assert } from "../core/base/assert.ts";
import type { RecordId } from "../core/base/brand.ts";
import { ChoiceKind, note, type Outcome } from "../core/ft/choices.ts";
import { R_PEER, R_SEQUENCE } from "../core/request/records.ts";
import type { CRequest } from "./objects.ts";
import type { Program } from "./program.ts";
import { type CallAgain, look, waitUntil } from "./waiting.ts";

/** One choice that a call offers. */
interface Choice {
  readonly kind: ChoiceKind;
  /** What it comes to if it is made now; null: nothing yet. */
  now(): Outcome;
  /** Is that outcome true here as well? */
  isSo(outcome: readonly number[]): boolean;
  /** Tells the program. The outcome is true. */
  tell(outcome: Outcome): number;
}

type Requests = readonly (CRequest | null)[];

const isActive = (request: CRequest | null | undefined): request is CRequest =>
  request !== null && request !== undefined && request.record >= 0;

/** Calls that look: MPI_Test and its like, MPI_Iprobe. */
function chooseNow(program: Program, choice: Choice, again: CallAgain): number {
  const choices = program.process.choices!;
  const known = program.takeKnown(choice.kind);
  if (known === undefined) {
    const finish = () => {
      const outcome = choice.now();
      note(choices, choice.kind, outcome);
      return choice.tell(outcome);
    };
    return look(program, finish, again);
  }
  again.known = known;
  if (known === null) return look(program, () => choice.tell(null), again);
  return waitUntil(
    program,
    () => choice.isSo(known),
    () => choice.tell(known),
    again,
  );
}

/** Calls that wait: MPI_Waitany and MPI_Waitsome, MPI_Probe from anybody. */
function chooseLater(program: Program, choice: Choice, again: CallAgain): number {
  const choices = program.process.choices!;
  const known = program.takeKnown(choice.kind);
  assert(known !== null, "a wait ends with something");
  let outcome: Outcome = known ?? null;
  const isReady = () => {
    if (known !== undefined) return choice.isSo(known);
    outcome = choice.now();
    return outcome !== null;
  };
  const finish = () => {
    if (known === undefined) note(choices, choice.kind, outcome);
    return choice.tell(outcome);
  };
  again.known = known;
  return waitUntil(program, isReady, finish, again);
}

const nothing: readonly number[] = [];

/** Are all of these complete, those that are not active aside? */
export function chooseTest(
  program: Program,
  requests: Requests,
  tell: (isDone: boolean) => number,
  again: CallAgain,
): number {
  const { engine } = program;
  // Where none is active there is nothing to choose.
  if (!requests.some(isActive)) return look(program, () => tell(true), again);
  const isDone = () => requests.every((request) => !isActive(request) || engine.isComplete(request.record));
  const choice: Choice = {
    kind: ChoiceKind.TEST,
    now: () => (isDone() ? nothing : null),
    isSo: isDone,
    tell: (outcome) => tell(outcome !== null),
  };
  return chooseNow(program, choice, again);
}

function completion(program: Program, kind: ChoiceKind, requests: Requests): Omit<Choice, "tell"> {
  const { engine } = program;
  const isDone = (i: number): boolean => {
    const request = requests[i];
    return isActive(request) && engine.isComplete(request.record);
  };
  const indices = [...requests.keys()];
  const now = (): readonly number[] => {
    if (kind === ChoiceKind.SOME) return indices.filter(isDone);
    const first = indices.findIndex(isDone);
    return first < 0 ? nothing : [first];
  };
  return {
    kind,
    now() {
      const done = now();
      return done.length === 0 ? null : done;
    },
    isSo: (outcome) => outcome.every(isDone),
  };
}

type TellOne = (index: number) => number;
type TellSome = (indices: readonly number[]) => number;

const tellOne =
  (tell: TellOne) =>
  (outcome: Outcome): number =>
    tell(outcome === null ? -1 : outcome[0]!);
const tellSome =
  (tell: TellSome) =>
  (outcome: Outcome): number =>
    tell(outcome ?? nothing);

/** Which of these is complete; −1: none yet. At least one is active, here and below. */
export function chooseAny(program: Program, requests: Requests, tell: TellOne, again: CallAgain): number {
  return chooseNow(program, { ...completion(program, ChoiceKind.ANY, requests), tell: tellOne(tell) }, again);
}

export function chooseSome(program: Program, requests: Requests, tell: TellSome, again: CallAgain): number {
  return chooseNow(program, { ...completion(program, ChoiceKind.SOME, requests), tell: tellSome(tell) }, again);
}

/** The same for calls that wait for at least one. */
export function chooseAnyLater(program: Program, requests: Requests, tell: TellOne, again: CallAgain): number {
  return chooseLater(program, { ...completion(program, ChoiceKind.ANY, requests), tell: tellOne(tell) }, again);
}

export function chooseSomeLater(program: Program, requests: Requests, tell: TellSome, again: CallAgain): number {
  return chooseLater(program, { ...completion(program, ChoiceKind.SOME, requests), tell: tellSome(tell) }, again);
}

/** Which messages a probe looks for, in world ranks. */
interface ProbePattern {
  readonly source: number;
  readonly tag: number;
  readonly context: number;
}

type TellMessage = (envelope: RecordId) => number;

function message({ engine }: Program, pattern: ProbePattern, tell: TellMessage): Choice {
  const { records } = engine;
  let envelope = -1 as RecordId;
  return {
    kind: ChoiceKind.PROBE,
    now() {
      envelope = engine.probe(pattern.source, pattern.tag, pattern.context);
      return envelope < 0 ? null : [records.get(envelope, R_PEER), records.get(envelope, R_SEQUENCE)];
    },
    isSo(outcome) {
      envelope = engine.unexpectedOf(outcome[0]!, outcome[1]!);
      return envelope >= 0;
    },
    tell: (outcome) => tell(outcome === null ? (-1 as RecordId) : envelope),
  };
}

/** The envelope of the message that a probe finds; −1: none yet. It stays in its queue. */
export function chooseMessage(program: Program, pattern: ProbePattern, tell: TellMessage, again: CallAgain): number {
  return chooseNow(program, message(program, pattern, tell), again);
}

export function chooseMessageLater(
  program: Program,
  pattern: ProbePattern,
  tell: TellMessage,
  again: CallAgain,
): number {
  return chooseLater(program, message(program, pattern, tell), again);
}
