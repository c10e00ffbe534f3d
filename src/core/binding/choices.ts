/**
 * The choices of a program under a protocol that replays them (core/ft/choices.ts): the answers of tests and probes, and the request
 * that a wait for several ends. A face asks for the outcome of an earlier life only where the protocol has an observer of choices. How
 * a face waits for a known outcome is its own affair, since a call of a C program can be interrupted.
 */
import type { RecordId } from "../base/brand.ts";
import type { MpiError } from "../base/mpi-error.ts";
import { ChoiceKind, type Outcome } from "../ft/choices.ts";
import { type NamedCommunicator, probeFailure } from "./checks.ts";
import type { Operations } from "./operations.ts";

/** One choice that a call offers. */
export interface Choice {
  readonly kind: ChoiceKind;
  /** What it comes to if it is made now; null: nothing yet. */
  now(): Outcome;
  /** Is that outcome true here as well? */
  isSo(outcome: readonly number[]): boolean;
  /** The error of the call when the choice can come to nothing any more; null: it can. */
  failure(): MpiError | null;
}

/** Every wait for a request ends, with the error of the request if need be. */
const noFailure = (): null => null;

/** The requests that a call is about. */
export interface RequestList {
  readonly length: number;
  /** Is the request under way, or complete and not ended? */
  isActive(index: number): boolean;
  /** Is an active request complete? */
  isDone(index: number): boolean;
}

const nothing: readonly number[] = [];

const isEnded = (requests: RequestList, index: number): boolean => requests.isActive(index) && requests.isDone(index);

/** The first active request that is complete; −1: none is. */
function firstDone(requests: RequestList): number {
  for (let index = 0; index < requests.length; index++) if (isEnded(requests, index)) return index;
  return -1;
}

/** Every active request that is complete. */
function indicesDone(requests: RequestList): number[] {
  const done: number[] = [];
  for (let index = 0; index < requests.length; index++) if (isEnded(requests, index)) done.push(index);
  return done;
}

function areAllDone(requests: RequestList): boolean {
  for (let index = 0; index < requests.length; index++) {
    if (requests.isActive(index) && !requests.isDone(index)) return false;
  }
  return true;
}

/** Are all of these complete, those that are not active aside? */
export function testChoice(requests: RequestList): Choice {
  const isDone = () => areAllDone(requests);
  return { kind: ChoiceKind.TEST, now: () => (isDone() ? nothing : null), isSo: isDone, failure: noFailure };
}

/** Which of these is complete? */
export function anyChoice(requests: RequestList): Choice {
  return {
    kind: ChoiceKind.ANY,
    now() {
      const index = firstDone(requests);
      return index < 0 ? null : [index];
    },
    isSo: ([index]) => isEnded(requests, index!),
    failure: noFailure,
  };
}

/** Which of these are complete? */
export function someChoice(requests: RequestList): Choice {
  return {
    kind: ChoiceKind.SOME,
    now() {
      const done = indicesDone(requests);
      return done.length === 0 ? null : done;
    },
    isSo: (outcome) => outcome.every((index) => isEnded(requests, index)),
    failure: noFailure,
  };
}

/** The messages that a probe looks for. */
export interface ProbePattern {
  readonly comm: NamedCommunicator;
  readonly source: number;
  readonly tag: number;
}

/** Which message does a probe find? */
export function messageChoice(operations: Operations, { comm, source, tag }: ProbePattern): Choice {
  return {
    kind: ChoiceKind.PROBE,
    now() {
      const envelope = operations.probe(comm.core, source, tag);
      return envelope < 0 ? null : operations.messageNumber(envelope);
    },
    isSo: (outcome) => messageOf(operations, outcome) >= 0,
    failure: () => probeFailure(operations, comm, source),
  };
}

/** The envelope of the message that such a choice came to; −1: none. */
export function messageOf(operations: Operations, outcome: Outcome): RecordId {
  return outcome === null ? (-1 as RecordId) : operations.numberedMessage(outcome[0]!, outcome[1]!);
}
