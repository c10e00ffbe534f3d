/** Sends of every mode: with a request, blocking by the short way, buffered. */
import type { RecordId, WorldRank } from "../../core/base/brand.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { R_ERROR, R_FLAGS, RecordFlag, SendMode } from "../../core/request/records.ts";
import { fillMessage } from "../script/contents.ts";
import type { MessagePlan } from "../script/message-plan.ts";
import type { Steps } from "../sim-process.ts";
import type { Buffer } from "./buffer.ts";
import type { Doing, Pending, ScriptState } from "./script-state.ts";

/** A send with a buffer of its own. */
class PendingSend implements Pending {
  readonly record: RecordId;
  private readonly message: number;
  private readonly buffer: Buffer;

  constructor(record: RecordId, message: number, buffer: Buffer) {
    this.record = record;
    this.message = message;
    this.buffer = buffer;
  }

  end(state: ScriptState): void {
    const { engine } = state.core;
    noteSend(state, this.message, {
      error: engine.records.get(this.record, R_ERROR),
      cancelled: (engine.records.get(this.record, R_FLAGS) & RecordFlag.CANCELLED) !== 0,
    });
    engine.giveBack(this.record);
    this.buffer.free();
  }
}

export function startPlannedSend(state: ScriptState, number: number): Pending {
  const message = state.script.messages[number]!;
  const buffer = filledBuffer(state, message);
  return new PendingSend(postSend(state, message, buffer), number, buffer);
}

/** The message in a buffer of its own. */
export function filledBuffer(state: ScriptState, message: MessagePlan): Buffer {
  const buffer = state.buffer(message.bytes, message.lent);
  fillMessage(buffer.view, message);
  return buffer;
}

export function postSend(state: ScriptState, message: MessagePlan, buffer: Buffer): RecordId {
  const { communicator, bytes, to, tag, mode } = message;
  const dest = state.rankIn(communicator, to);
  return state.core.startSend(state.communicator(communicator), buffer.pointer(), bytes, dest, tag, mode);
}

export function noteSend(
  { observation, rank, script }: ScriptState,
  number: number,
  { error, cancelled }: { readonly error: number; readonly cancelled: boolean },
): void {
  const { communicator, to } = script.messages[number]!;
  observation.sends.push({ message: number, at: observation.tick(), error });
  observation.ended.push({
    rank,
    what: `send of message ${number}`,
    communicators: [communicator],
    peers: [to],
    error,
    cancelled,
    wantedCancelled: false,
  });
}

/** Blocking, by the short way where there is one. */
export class SendNow implements Doing {
  private readonly message: number;
  private pending: PendingSend | null = null;

  constructor(message: number) {
    this.message = message;
  }

  *run(state: ScriptState): Steps {
    if (this.pending === null && this.isSent(state)) return;
    yield this.pending!.record;
    this.pending!.end(state);
  }

  private isSent(state: ScriptState): boolean {
    const message = state.script.messages[this.message]!;
    const { bytes, to, tag, communicator } = message;
    const { engine } = state.core;
    const { context } = state.communicator(communicator);
    const buffer = filledBuffer(state, message);
    const pointer = buffer.pointer();
    if (engine.sendNow(pointer, bytes, to, tag, context)) {
      buffer.giveBack(pointer);
      buffer.free();
      noteSend(state, this.message, { error: 0, cancelled: false });
      return true;
    }
    const record = engine.startSend(pointer, bytes, to as WorldRank, tag, context, SendMode.STANDARD);
    this.pending = new PendingSend(record, this.message, buffer);
    return false;
  }
}

/** Buffered: the program's own buffer is free at once, whatever the receiver does. */
export function sendCopy(state: ScriptState, number: number): void {
  const message = state.script.messages[number]!;
  const buffer = filledBuffer(state, message);
  holdCopy(state, message, buffer.view);
  buffer.free();
  noteSend(state, number, { error: 0, cancelled: false });
}

/** A copy of the bytes is lent until the message has left. */
export function holdCopy(state: ScriptState, message: MessagePlan, bytes: Uint8Array): void {
  const { communicator, to, tag } = message;
  const comm = state.communicator(communicator);
  const copy = state.process.memory.lend(bytes.slice());
  const dest = state.rankIn(communicator, to);
  const record = state.operations.startSend(comm, copy, bytes.length, dest, tag, SendMode.BUFFERED);
  state.buffered.hold(state.operations, record, bytes.length, null);
}

saves({ PendingSend, SendNow });
