/**
 * Persistent requests, by the class that programs use (mpi/request.ts): made once, started with new contents again and again. A
 * simulated program waits before it asks for the result, so no call here blocks.
 */
import { assert } from "../../core/base/assert.ts";
import type { RecordId } from "../../core/base/brand.ts";
import { saves } from "../../core/base/saved-classes.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import { SendMode } from "../../core/request/records.ts";
import { PersistentRequest, type RequestOwner } from "../../mpi/request.ts";
import type { Status } from "../../mpi/status.ts";
import { fillMessage } from "../script/contents.ts";
import type { MessagePlan } from "../script/message-plan.ts";
import type { Buffer } from "./buffer.ts";
import { newlyPosted, noteReceipt, type Posted } from "./receives.ts";
import type { Pending, PersistentSeries, ScriptState } from "./script-state.ts";
import { ScriptedCollective } from "./scripted-collective.ts";
import { holdCopy, noteSend, postSend } from "./sends.ts";

/** Ranks are those of the world, and errors stay in the status. */
const ownerIn = ({ core }: ScriptState): RequestOwner => ({
  core: core.world,
  raise: (error) => {
    throw error;
  },
});

const nobodyAwaits = {
  whenReady: (): never => {
    throw new Error("A script awaits a request");
  },
};

/** A request that can be started again, and the record of its last start. */
class Restartable {
  static readonly unsaved = { request: null };
  private request: PersistentRequest | null = null;
  record = -1 as RecordId;

  start(state: ScriptState, record: RecordId): void {
    this.record = record;
    this.request ??= this.newRequest(state);
    this.request.start();
  }

  /** After a restore the request is made anew, and finds its record again. */
  conclude(state: ScriptState): Status {
    this.request ??= this.newRequest(state).start();
    return this.request.concludeQuietly();
  }

  private newRequest(state: ScriptState): PersistentRequest {
    const begin = () => ({ record: this.record, after: null });
    return new PersistentRequest({ operations: state.operations, host: nobodyAwaits }, ownerIn(state), begin);
  }
}

/** One start of a series. */
class SeriesStart implements Pending {
  readonly record: RecordId;
  private readonly series: StartedSeries;

  constructor(series: StartedSeries, record: RecordId) {
    this.series = series;
    this.record = record;
  }

  end(state: ScriptState): void {
    this.series.end(state);
  }
}

interface StartedSeries extends PersistentSeries {
  end(state: ScriptState): void;
}

export class SendSeries implements StartedSeries {
  private readonly buffer: Buffer;
  private readonly request = new Restartable();
  private message = -1;

  constructor(state: ScriptState, number: number) {
    const { bytes, lent } = state.script.messages[number]!;
    this.buffer = state.buffer(bytes, lent);
  }

  start(state: ScriptState, number: number): Pending {
    const message = state.script.messages[number]!;
    this.message = number;
    fillMessage(this.buffer.view, message);
    this.request.start(state, beginSend(state, message, this.buffer));
    return new SeriesStart(this, this.request.record);
  }

  end(state: ScriptState): void {
    const { error, cancelled } = this.request.conclude(state);
    noteSend(state, this.message, { error, cancelled });
  }

  free(): void {
    this.buffer.free();
  }
}

/** A buffered start is complete at once. */
function beginSend(state: ScriptState, message: MessagePlan, buffer: Buffer): RecordId {
  if (message.mode !== SendMode.BUFFERED) return postSend(state, message, buffer);
  holdCopy(state, message, buffer.view);
  const done = state.operations.startOwn();
  state.operations.completeOwn(done);
  return done;
}

export class ReceiveSeries implements StartedSeries {
  private readonly buffer: Buffer;
  private readonly pattern: number;
  private readonly comm: Communicator;
  private readonly request = new Restartable();
  private receive = -1;
  private posted: Posted | null = null;

  constructor(state: ScriptState, number: number) {
    const { communicator, room, lent } = state.script.receives[number]!;
    this.pattern = number;
    this.buffer = state.buffer(room, lent);
    this.comm = state.communicator(communicator);
  }

  start(state: ScriptState, number: number): Pending {
    const { communicator, room, source, tag } = state.script.receives[this.pattern]!;
    this.receive = number;
    this.posted = newlyPosted(state, number);
    this.buffer.view.fill(0);
    const rank = state.rankIn(communicator, source);
    this.request.start(state, state.core.startReceive(this.comm, this.buffer.pointer(), room, rank, tag));
    return new SeriesStart(this, this.request.record);
  }

  end(state: ScriptState): void {
    assert(this.posted !== null, "a receive ends that was not posted");
    const plan = state.script.receives[this.receive]!;
    noteReceipt(state, plan, this.buffer.view, this.posted, this.request.conclude(state));
  }

  free(): void {
    this.buffer.free();
  }
}

/** SeriesStart in any order: the messages have a tag of their own, by the order in which such requests were made. */
export class CollectiveSeries implements StartedSeries {
  private readonly tag: number;
  private readonly call: ScriptedCollective;
  private readonly request = new Restartable();

  constructor(state: ScriptState, number: number) {
    const { communicator } = state.script.collectives[number]!;
    this.tag = state.communicator(communicator).nextPersistent();
    this.call = new ScriptedCollective(state, number);
  }

  start(state: ScriptState, number: number): Pending {
    this.call.prepare(state, number);
    this.request.start(state, this.call.start(state, this.tag));
    return new SeriesStart(this, this.request.record);
  }

  end(state: ScriptState): void {
    this.call.note(state, this.request.conclude(state).error);
  }

  free(): void {
    this.call.free();
  }
}

saves({ Restartable, SeriesStart, SendSeries, ReceiveSeries, CollectiveSeries });
