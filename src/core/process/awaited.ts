/**
 * What a request waits for, in words that people know: which peer, which tag, which communicator. Asked of waits that have lasted long,
 * by people who want to see where their ranks are, and by those who look for waits that cannot end.
 */
import type { RecordId } from "../base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../base/constants.ts";
import {
  R_CONTEXT,
  R_FLAGS,
  R_KIND,
  R_PEER,
  R_STATE,
  R_TAG,
  RecordFlag,
  RecordKind,
  RecordState,
  type Records,
} from "../request/records.ts";
import type { Communicator } from "./communicator.ts";
import type { Process } from "./process.ts";

/** In the place of a peer: several, or none that is known. */
export const NO_PEER = -5;

export interface Awaited {
  readonly kind: "receive" | "send" | "probe" | "collective" | "other";
  /** World rank, ANY_SOURCE or `NO_PEER`. */
  readonly peer: number;
  /** Of a message; ANY_TAG. */
  readonly tag: number;
  /** Null: not known. */
  readonly comm: Communicator | null;
  /** Nothing has come of it yet: only what the peer's program still does can end the wait. */
  readonly isUnmatched: boolean;
}

const unknown: Awaited = { kind: "other", peer: NO_PEER, tag: ANY_TAG, comm: null, isUnmatched: false };

/** The communicator whose messages have that context. */
const communicatorOf = ({ communicators }: Process, context: number): Communicator | null =>
  communicators.get(context & ~1) ?? null;

/** A message that the program looks for, or receives without a request. */
export function awaitedMessage(
  process: Process,
  kind: "receive" | "probe",
  { peer, tag, context }: { readonly peer: number; readonly tag: number; readonly context: number },
): Awaited {
  return { kind, peer, tag, comm: communicatorOf(process, context), isUnmatched: true };
}

export function awaitedOf(process: Process, request: RecordId): Awaited {
  const { records } = process.engine;
  const kind = records.get(request, R_KIND);
  if (kind === RecordKind.OPERATION) return awaitedOfOperation(process, request);
  if (kind !== RecordKind.SEND && kind !== RecordKind.RECEIVE) return unknown;
  return {
    kind: kind === RecordKind.SEND ? "send" : "receive",
    peer: records.get(request, R_PEER),
    tag: records.get(request, R_TAG),
    comm: communicatorOf(process, records.get(request, R_CONTEXT)),
    isUnmatched: isUnmatched(records, request),
  };
}

function awaitedOfOperation(process: Process, request: RecordId): Awaited {
  const { collectives, tasks } = process;
  const gate = collectives.boardCalls.find((call) => call.request === request);
  if (gate !== undefined) return { ...unknown, kind: "collective", comm: gate.comm };
  const creation = tasks.find((task) => task.request === request)?.creation ?? null;
  const operation =
    collectives.operations.find((each) => each.request === request) ??
    (creation === null
      ? undefined
      : collectives.operations.find(
          (each) => each.recordCount > 0 && collectives.communicatorOf(each) === creation.comm,
        ));
  if (operation === undefined)
    return creation === null ? unknown : { ...unknown, kind: "collective", comm: creation.comm };
  const peer = peerOf(process, operation.records, operation.recordCount);
  const comm = creation?.comm ?? collectives.communicatorOf(operation);
  return { kind: "collective", peer, tag: ANY_TAG, comm, isUnmatched: peer !== NO_PEER };
}

/** The first peer for whose message, or whose receive, an operation of several messages waits. */
function peerOf({ engine: { records }, rank }: Process, list: ArrayLike<number>, count: number): number {
  for (let i = 0; i < count; i++) {
    const record = list[i] as RecordId;
    const peer = records.get(record, R_PEER);
    if (isUnmatched(records, record) && peer !== rank && peer !== ANY_SOURCE) return peer;
  }
  return NO_PEER;
}

function isUnmatched(records: Records, record: RecordId): boolean {
  const state = records.get(record, R_STATE);
  if (records.get(record, R_KIND) === RecordKind.RECEIVE) return state === RecordState.PENDING;
  return state === RecordState.ACTIVE && (records.get(record, R_FLAGS) & RecordFlag.AWAITS_ANSWER) !== 0;
}
