/** Receives: posted, or blocking by the short way; and how their results are noted. */
import type { RecordId } from "../../core/base/brand.ts";
import { ANY_SOURCE } from "../../core/base/constants.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { Now } from "../../core/p2p/engine.ts";
import { R_ERROR, R_STATUS_BYTES, R_STATUS_SOURCE, R_STATUS_TAG } from "../../core/request/records.ts";
import type { Receipt } from "../observation.ts";
import { firstWrongByte, numberIn } from "../script/contents.ts";
import type { ReceivePlan } from "../script/message-plan.ts";
import type { Steps } from "../sim-process.ts";
import type { Buffer } from "./buffer.ts";
import type { Doing, Pending, ScriptState } from "./script-state.ts";

/** The status of a receive, however it was received. The source is a rank of the world. */
interface ReceiveStatus {
  readonly source: number;
  readonly tag: number;
  readonly bytes: number;
  readonly error: number;
}

/** When a receive was posted, and the answer of an earlier probe. */
export interface Posted {
  readonly order: number;
  /** On the clock of the observation. */
  readonly at: number;
  readonly probed: Receipt["probed"];
}

export function newlyPosted(
  state: ScriptState,
  receive: number,
  probed: Receipt["probed"] = null,
  order = state.nextPosted(),
): Posted {
  return { order, at: state.observation.posts(receive), probed };
}

/** A receive with a buffer of its own. */
export class PendingReceive implements Pending {
  readonly record: RecordId;
  readonly buffer: Buffer;
  private readonly receive: number;
  private readonly posted: Posted;

  constructor(record: RecordId, receive: number, buffer: Buffer, posted: Posted) {
    this.record = record;
    this.receive = receive;
    this.buffer = buffer;
    this.posted = posted;
  }

  end(state: ScriptState): void {
    const { engine } = state.core;
    const { records } = engine;
    const { record, buffer } = this;
    noteReceipt(state, state.script.receives[this.receive]!, buffer.view, this.posted, {
      source: records.get(record, R_STATUS_SOURCE),
      tag: records.get(record, R_STATUS_TAG),
      bytes: records.get(record, R_STATUS_BYTES),
      error: records.get(record, R_ERROR),
    });
    engine.giveBack(record);
    buffer.free();
  }
}

export function startPlannedReceive(state: ScriptState, number: number): Pending {
  const plan = state.script.receives[number]!;
  return postReceive(state, plan, state.buffer(plan.room, plan.lent), newlyPosted(state, number));
}

/** After a probe, the receive asks for the message that the probe reported. */
export function postReceive(state: ScriptState, plan: ReceivePlan, buffer: Buffer, posted: Posted): PendingReceive {
  const { communicator, room } = plan;
  const { source, tag } = posted.probed ?? plan;
  const comm = state.communicator(communicator);
  const record = state.core.startReceive(comm, buffer.pointer(), room, state.rankIn(communicator, source), tag);
  return new PendingReceive(record, plan.number, buffer, posted);
}

/** Blocking, by the short way where there is one. */
export class ReceiveNow implements Doing {
  private readonly receive: number;
  private buffer: Buffer | null = null;
  private posted: Posted | null = null;
  private pending: PendingReceive | null = null;

  constructor(receive: number) {
    this.receive = receive;
  }

  *run(state: ScriptState): Steps {
    if (this.pending === null) yield* this.begin(state);
    if (this.pending === null) return;
    yield (this.pending as PendingReceive).record;
    (this.pending as PendingReceive).end(state);
  }

  private *begin(state: ScriptState): Steps {
    const plan = state.script.receives[this.receive]!;
    const { room, source, tag } = plan;
    const { engine } = state.core;
    const { context } = state.communicator(plan.communicator);
    this.buffer ??= state.buffer(room, plan.lent);
    this.posted ??= newlyPosted(state, this.receive);
    const { buffer, posted } = this;
    const pointer = buffer.pointer();
    let now: number = Now.NOTHING;
    yield state.process.until(`message for receive ${this.receive}`, () => {
      now = engine.receiveNow(pointer, room, source, tag, context);
      return now !== Now.NOTHING;
    });
    buffer.giveBack(pointer);
    if (now === Now.MUST_POST) {
      this.pending = postReceive(state, plan, buffer, posted);
      return;
    }
    const { lastSource, lastTag, lastBytes, lastError } = engine;
    const status = { source: lastSource, tag: lastTag, bytes: lastBytes, error: lastError };
    noteReceipt(state, plan, buffer.view, posted, status);
    buffer.free();
  }
}

export function noteReceipt(
  state: ScriptState,
  plan: ReceivePlan,
  view: Uint8Array,
  posted: Posted,
  status: ReceiveStatus,
): void {
  const number = messageOf(plan, status, view);
  const message = state.script.messages[number];
  state.observe(plan.number, number);
  state.observation.receipts.push({
    receive: plan.number,
    posted: posted.order,
    postedAt: posted.at,
    message: message === undefined ? -1 : number,
    ...status,
    wrongByte: message === undefined || status.error !== 0 ? -1 : firstWrongByte(view, message, status.bytes),
    probed: posted.probed,
  });
  // A message that might come from any rank is missing, and so is everything that depends on it.
  if (status.error !== 0 && plan.source === ANY_SOURCE) state.giveUp();
}

/**
 * Which message came: the only possible one, the one that its tag names (open ranks), or the one that its contents name
 * (groups).
 */
function messageOf(plan: ReceivePlan, status: ReceiveStatus, view: Uint8Array): number {
  if (plan.mayTake === null) return status.tag;
  if (plan.mayTake.length === 1) return plan.mayTake[0]!;
  return status.bytes >= 4 ? numberIn(view) : -1;
}

saves({ PendingReceive, ReceiveNow });
