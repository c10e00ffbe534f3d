/** Sends of every mode: with a request, blocking by the short way, buffered. */
import type { RecordId, WorldRank } from "../../core/base/brand.ts";
import { R_ERROR, R_FLAGS, RecordFlag, SendMode } from "../../core/request/records.ts";
import { fillMessage } from "../script/contents.ts";
import type { MessagePlan } from "../script/message-plan.ts";
import type { Buffer } from "./buffer.ts";
import type { Pending, RankState, Steps } from "./rank-state.ts";

export function startSend(state: RankState, number: number): Pending {
  const message = state.script.messages[number]!;
  const buffer = filledBuffer(state, message);
  const record = postSend(state, message, buffer);
  return { record, end: () => endSend(state, message, record, buffer) };
}

/** The message in a buffer of its own. */
export function filledBuffer(state: RankState, message: MessagePlan): Buffer {
  const buffer = state.buffer(message.bytes, message.lent);
  fillMessage(buffer.view, message);
  return buffer;
}

export function postSend(state: RankState, message: MessagePlan, buffer: Buffer): RecordId {
  const { communicator, bytes, to, tag, mode } = message;
  const dest = state.rankIn(communicator, to);
  return state.core.startSend(state.communicator(communicator), buffer.pointer(), bytes, dest, tag, mode);
}

function endSend(state: RankState, message: MessagePlan, record: RecordId, buffer: Buffer): void {
  const { engine } = state.core;
  noteSend(state, message, {
    error: engine.records.get(record, R_ERROR),
    cancelled: (engine.records.get(record, R_FLAGS) & RecordFlag.CANCELLED) !== 0,
  });
  engine.giveBack(record);
  buffer.free();
}

export function noteSend(
  { observation, rank }: RankState,
  { number }: MessagePlan,
  { error, cancelled }: { readonly error: number; readonly cancelled: boolean },
): void {
  observation.sends.push({ message: number, at: observation.tick(), error });
  observation.ended.push({ rank, what: `send of message ${number}`, error, cancelled, wantedCancelled: false });
}

export function* sendNow(state: RankState, number: number): Steps {
  const message = state.script.messages[number]!;
  const { bytes, to, tag, communicator } = message;
  const { engine } = state.core;
  const { context } = state.communicator(communicator);
  const buffer = filledBuffer(state, message);
  const pointer = buffer.pointer();
  if (engine.sendNow(pointer, bytes, to, tag, context)) {
    buffer.giveBack(pointer);
    buffer.free();
    noteSend(state, message, { error: 0, cancelled: false });
    return;
  }
  const record = engine.startSend(pointer, bytes, to as WorldRank, tag, context, SendMode.STANDARD);
  yield record;
  endSend(state, message, record, buffer);
}

/** Buffered: the program's own buffer is free at once, whatever the receiver does. */
export function sendCopy(state: RankState, number: number): void {
  const message = state.script.messages[number]!;
  const buffer = filledBuffer(state, message);
  holdCopy(state, message, buffer.view);
  buffer.free();
  noteSend(state, message, { error: 0, cancelled: false });
}

/** A copy of the bytes is lent until the message has left. */
export function holdCopy(state: RankState, message: MessagePlan, bytes: Uint8Array): void {
  const { communicator, to, tag } = message;
  const comm = state.communicator(communicator);
  const copy = state.process.memory.lend(bytes.slice());
  const dest = state.rankIn(communicator, to);
  const record = state.core.startSend(comm, copy, bytes.length, dest, tag, SendMode.BUFFERED);
  state.buffered.hold(state.core.engine, record, bytes.length);
}
