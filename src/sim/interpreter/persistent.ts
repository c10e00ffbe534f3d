/**
 * Persistent requests, by the class that programs use (mpi/request.ts): made once, started with new contents again and again.
 * A simulated program waits before it asks, so nothing here ever blocks.
 */
import type { RecordId } from "../../core/base/brand.ts";
import { R_POINTER, R_STATE, RecordKind, RecordState, SendMode } from "../../core/request/records.ts";
import type { Host } from "../../mpi/host.ts";
import { PersistentRequest, type RequestOwner } from "../../mpi/request.ts";
import type { Status } from "../../mpi/status.ts";
import { fillMessage } from "../script/contents.ts";
import type { MessagePlan, ReceivePlan } from "../script/message-plan.ts";
import type { Buffer } from "./buffer.ts";
import { CollectiveCall } from "./collective-call.ts";
import type { Pending, RankState, Series } from "./rank-state.ts";
import { newlyPosted, noteReceipt } from "./receives.ts";
import { holdCopy, noteSend, postSend } from "./sends.ts";

/** Ranks stay those of the world, and errors stay in the status. */
const owner: RequestOwner = {
  rankOfWorld: (world) => world,
  raise: (error) => {
    throw error;
  },
};

/** A request that can be started again, and the record of its last start. */
class Restartable {
  readonly #request: PersistentRequest;
  #record = -1 as RecordId;

  constructor({ core }: RankState, begin: () => RecordId) {
    const host = { process: core } as Pick<Host, "process"> as Host;
    this.#request = new PersistentRequest(host, owner, () => {
      this.#record = begin();
      return { record: this.#record, after: null };
    });
  }

  start(end: (status: Status) => void): Pending {
    this.#request.start();
    return { record: this.#record, end: () => end(this.#request.concludeQuietly()) };
  }
}

export function persistentSend(state: RankState, number: number): Series {
  let message = state.script.messages[number]!;
  const buffer = state.buffer(message.bytes, message.lent);
  const request = new Restartable(state, () => beginSend(state, message, buffer));
  return {
    start(next) {
      message = state.script.messages[next]!;
      fillMessage(buffer.view, message);
      const sent = message;
      return request.start(({ error, cancelled }) => noteSend(state, sent, { error, cancelled }));
    },
    free: () => buffer.free(),
  };
}

/** A buffered start is complete at once. */
function beginSend(state: RankState, message: MessagePlan, buffer: Buffer): RecordId {
  if (message.mode !== SendMode.BUFFERED) return postSend(state, message, buffer);
  holdCopy(state, message, buffer.view);
  const { records } = state.core.engine;
  const done = records.take(RecordKind.OPERATION);
  records.put(done, R_POINTER, 0);
  records.put(done, R_STATE, RecordState.COMPLETE);
  return done;
}

export function persistentReceive(state: RankState, number: number): Series {
  const pattern: ReceivePlan = state.script.receives[number]!;
  const { communicator, room, source, tag } = pattern;
  const buffer = state.buffer(room, pattern.lent);
  const comm = state.communicator(communicator);
  const request = new Restartable(state, () =>
    state.core.startReceive(comm, buffer.pointer(), room, state.rankIn(communicator, source), tag),
  );
  return {
    start(next) {
      const plan = state.script.receives[next]!;
      const posted = newlyPosted(state, next);
      buffer.view.fill(0);
      return request.start((status) => noteReceipt(state, plan, buffer.view, posted, status));
    },
    free: () => buffer.free(),
  };
}

/** Started in any order: its messages have a tag of their own, by the order in which such requests were made. */
export function persistentCollective(state: RankState, number: number): Series {
  const { communicator } = state.script.collectives[number]!;
  const comm = state.communicator(communicator);
  const tag = comm.nextPersistent();
  const call = new CollectiveCall(state, number);
  const request = new Restartable(state, () => call.start(tag));
  return {
    start(next) {
      call.prepare(next);
      return request.start(({ error }) => call.note(error));
    },
    free: () => call.free(),
  };
}
