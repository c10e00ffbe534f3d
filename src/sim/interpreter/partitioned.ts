/**
 * Partitioned messages, as in the binding for C (abi/calls/partitioned.ts): held until all parts are ready, then one message.
 */
import { partitionedTag } from "../../abi/calls/partitioned.ts";
import { assert } from "../../core/base/assert.ts";
import type { RecordId, WorldRank } from "../../core/base/brand.ts";
import { saves } from "../../core/base/saved-classes.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import { partitionedContext } from "../../core/process/context.ts";
import { R_ERROR, R_STATUS_BYTES, R_STATUS_SOURCE, SendMode } from "../../core/request/records.ts";
import { fillMessage } from "../script/contents.ts";
import type { Buffer } from "./buffer.ts";
import { newlyPosted, noteReceipt, type Posted } from "./receives.ts";
import type { Pending, PersistentSeries, ScriptState } from "./script-state.ts";
import { noteSend } from "./sends.ts";

export class PartitionedSend implements PersistentSeries, Pending {
  private readonly buffer: Buffer;
  private readonly comm: Communicator;
  private readonly parts: number;
  private readonly call: number;
  private message = -1;
  private ready = 0;
  /** The record that holds the request open, then that of the message. */
  record = -1 as RecordId;

  constructor(state: ScriptState, { message, parts, call }: { message: number; parts: number; call: number }) {
    const { bytes, lent, communicator } = state.script.messages[message]!;
    this.buffer = state.buffer(bytes, lent);
    this.comm = state.communicator(communicator);
    this.parts = parts;
    this.call = call;
  }

  start(state: ScriptState, message: number): Pending {
    this.message = message;
    this.ready = 0;
    this.buffer.view.fill(0);
    this.record = state.core.engine.startHeld(partitionedContext(this.comm.context));
    return this;
  }

  get isHalfReady(): boolean {
    return this.ready > 0 && this.ready < this.parts;
  }

  /** The program has filled a part; the last part sends the message. */
  setReady(state: ScriptState, part: number): void {
    const { engine } = state.core;
    const plan = state.script.messages[this.message]!;
    const { bytes, to, tag } = plan;
    const whole = new Uint8Array(bytes);
    fillMessage(whole, plan);
    const [from, end] = [part, part + 1].map((index) => Math.floor((index * bytes) / this.parts));
    this.buffer.view.set(whole.subarray(from, end), from);
    this.ready++;
    if (this.ready < this.parts) return;
    engine.giveBack(this.record);
    const context = partitionedContext(this.comm.context);
    const ownTag = partitionedTag(tag, this.call);
    this.record = engine.startSend(
      this.buffer.pointer(),
      ...([bytes, to as WorldRank, ownTag, context, SendMode.STANDARD] as const),
    );
  }

  end(state: ScriptState): void {
    const { engine } = state.core;
    noteSend(state, this.message, { error: engine.records.get(this.record, R_ERROR), cancelled: false });
    engine.giveBack(this.record);
  }

  free(): void {
    this.buffer.free();
  }
}

export class PartitionedReceive implements PersistentSeries, Pending {
  private readonly buffer: Buffer;
  private readonly comm: Communicator;
  private readonly call: number;
  private receive = -1;
  private posted: Posted | null = null;
  record = -1 as RecordId;

  constructor(state: ScriptState, { receive, call }: { receive: number; call: number }) {
    const { communicator, room, lent } = state.script.receives[receive]!;
    this.buffer = state.buffer(room, lent);
    this.comm = state.communicator(communicator);
    this.call = call;
  }

  start(state: ScriptState, receive: number): Pending {
    const { source, tag, room } = state.script.receives[receive]!;
    this.receive = receive;
    this.posted = newlyPosted(state, receive);
    this.buffer.view.fill(0);
    const context = partitionedContext(this.comm.context);
    const ownTag = partitionedTag(tag, this.call);
    this.record = state.core.engine.startReceive(this.buffer.pointer(), room, source as WorldRank, ownTag, context);
    return this;
  }

  end(state: ScriptState): void {
    assert(this.posted !== null, "a receive ends that was not posted");
    const { engine } = state.core;
    const { records } = engine;
    const plan = state.script.receives[this.receive]!;
    noteReceipt(state, plan, this.buffer.view, this.posted, {
      source: records.get(this.record, R_STATUS_SOURCE),
      // The program gets its own tag.
      tag: plan.tag,
      bytes: records.get(this.record, R_STATUS_BYTES),
      error: records.get(this.record, R_ERROR),
    });
    engine.giveBack(this.record);
  }

  free(): void {
    this.buffer.free();
  }
}

saves({ PartitionedSend, PartitionedReceive });
