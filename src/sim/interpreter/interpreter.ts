/** Runs one rank's part of a script and notes what it saw. */
import { assert, unreachable } from "../core/base/assert.ts";
import type { CommRank, Pointer, RecordId } from "../core/base/brand.ts";
import { ANY_SOURCE, UNDEFINED } from "../core/base/constants.ts";
import { Now } from "../core/p2p/engine.ts";
import type { Communicator } from "../core/process/communicator.ts";
import { Duplicate, Split } from "../core/process/new-communicators.ts";
import {
  R_BYTES,
  R_ERROR,
  R_FLAGS,
  R_PEER,
  R_STATUS_BYTES,
  R_STATUS_SOURCE,
  R_STATUS_TAG,
  R_TAG,
  RecordFlag,
  SendMode,
} from "../core/request/records.ts";
import { CollectiveCall } from "./collective-call.ts";
import { fillMessage, firstWrongByte, numberIn } from "./contents.ts";
import { describeRequest } from "./describe-request.ts";
import type { Observation, Receipt } from "./observation.ts";
import type { Action, ReceivePlan, Script } from "./script.ts";
import type { SimProcess, Wait } from "./sim-process.ts";

type Steps<T = void> = Generator<RecordId | Wait, T, void>;

/** A buffer of one request: bytes of the simulated memory, or a view that is lent. */
interface Buffer {
  readonly pointer: Pointer;
  readonly lentView: Uint8Array | null;
}

interface Pending {
  readonly record: RecordId;
  /** Notes the outcome and gives everything back. */
  end(): void;
}

/** What the status of a receive says, however it was received. */
interface Status {
  readonly source: number;
  readonly tag: number;
  readonly bytes: number;
  readonly error: number;
}

export class Interpreter {
  readonly #script: Script;
  readonly #process: SimProcess;
  readonly #observation: Observation;
  readonly #communicators = new Map<number, Communicator>();
  readonly #pending = new Map<number, Pending>();
  #posted = 0;

  constructor(script: Script, process: SimProcess, observation: Observation) {
    this.#script = script;
    this.#process = process;
    this.#observation = observation;
    this.#communicators.set(0, process.core.world);
  }

  *run(): Steps {
    for (const action of this.#script.actions[this.#process.rank]!) yield* this.#do(action);
    assert(this.#pending.size === 0, "a script ends with requests that nobody waited for");
  }

  *#do(action: Action): Steps {
    switch (action.kind) {
      case "send":
        this.#pending.set(action.request, this.#startSend(action.message));
        return;
      case "send-now":
        return yield* this.#sendNow(action.message);
      case "receive":
        this.#pending.set(action.request, this.#startReceive(this.#script.receives[action.receive]!));
        return;
      case "receive-now":
        return yield* this.#receiveNow(this.#script.receives[action.receive]!);
      case "probe":
        return yield* this.#probe(this.#script.receives[action.receive]!, action.matched);
      case "wait":
        return yield* this.#wait(action.requests, action.inOrder);
      case "cancel-receive":
        return yield* this.#cancelReceive(action);
      case "cancel-send":
        return yield* this.#cancelSend(action);
      case "collective":
        this.#pending.set(action.request, this.#startCollective(action.collective));
        return;
      case "make":
        return yield* this.#make(action);
      case "free":
        this.#process.core.freeCommunicator(this.#communicator(action.communicator));
        this.#communicators.delete(action.communicator);
        return;
      case "compute":
        yield this.#process.compute(action.forNs);
        return;
      default:
        unreachable(action);
    }
  }

  // Messages

  #startSend(number: number): Pending {
    const message = this.#script.messages[number]!;
    const { core } = this.#process;
    const buffer = this.#buffer(message.bytes, message.lent);
    fillMessage(this.#view(buffer, message.bytes), message);
    const comm = this.#communicator(message.communicator);
    const record = core.startSend(comm, buffer.pointer, message.bytes, message.to, message.tag, message.mode);
    return { record, end: () => this.#endSend(record, buffer, `send of message ${number}`, false) };
  }

  *#sendNow(number: number): Steps {
    const message = this.#script.messages[number]!;
    const comm = this.#communicator(message.communicator);
    const { engine } = this.#process;
    const buffer = this.#buffer(message.bytes, message.lent);
    fillMessage(this.#view(buffer, message.bytes), message);
    const dest = comm.peers.worldRank(message.to as CommRank);
    if (engine.sendNow(buffer.pointer, message.bytes, dest, message.tag, comm.context)) {
      this.#release(buffer, true);
      return;
    }
    const record = engine.startSend(buffer.pointer, message.bytes, dest, message.tag, comm.context, SendMode.STANDARD);
    yield record;
    this.#endSend(record, buffer, `send of message ${number}`, false);
  }

  #startReceive(plan: ReceivePlan): Pending {
    const buffer = this.#buffer(plan.room, plan.lent);
    return this.#postReceive(plan, buffer, this.#posted++, null);
  }

  #postReceive(plan: ReceivePlan, buffer: Buffer, posted: number, probed: Receipt["probed"]): Pending {
    const { source, tag } = probed ?? plan;
    const comm = this.#communicator(plan.communicator);
    const record = this.#process.core.startReceive(comm, buffer.pointer, plan.room, source, tag);
    return { record, end: () => this.#endReceive(plan, record, buffer, posted, probed) };
  }

  *#receiveNow(plan: ReceivePlan): Steps {
    const { engine } = this.#process;
    const comm = this.#communicator(plan.communicator);
    const buffer = this.#buffer(plan.room, plan.lent);
    const posted = this.#posted++;
    const source = this.#worldRank(comm, plan.source);
    let now: number = Now.NOTHING;
    yield this.#process.until(`message for receive ${plan.number}`, () => {
      now = engine.receiveNow(buffer.pointer, plan.room, source, plan.tag, comm.context);
      return now !== Now.NOTHING;
    });
    if (now === Now.MUST_POST) {
      const pending = this.#postReceive(plan, buffer, posted, null);
      yield pending.record;
      pending.end();
      return;
    }
    const { lastSource, lastTag, lastBytes, lastError } = engine;
    const status = { source: comm.peers.rankOf(lastSource as never), tag: lastTag, bytes: lastBytes, error: lastError };
    this.#noteReceipt(plan, buffer, posted, status, null);
    this.#release(buffer, true);
  }

  *#probe(plan: ReceivePlan, matched: boolean): Steps {
    const { engine } = this.#process;
    const comm = this.#communicator(plan.communicator);
    const posted = this.#posted++;
    const source = this.#worldRank(comm, plan.source);
    let envelope = -1 as RecordId;
    yield this.#process.until(`probe of receive ${plan.number}`, () => {
      envelope = matched
        ? engine.matchedProbe(source, plan.tag, comm.context)
        : engine.probe(source, plan.tag, comm.context);
      // A death ends a probe as it ends a receive.
      return envelope >= 0 || (source >= 0 && engine.hasFailed(source));
    });
    const buffer = this.#buffer(plan.room, plan.lent);
    if (envelope < 0) {
      const pending = this.#postReceive(plan, buffer, posted, null);
      yield pending.record;
      pending.end();
      return;
    }
    const { records } = engine;
    const probed = {
      source: comm.peers.rankOf(records.get(envelope, R_PEER) as never),
      tag: records.get(envelope, R_TAG),
      bytes: records.get(envelope, R_BYTES),
    };
    if (!matched) {
      const pending = this.#postReceive(plan, buffer, posted, probed);
      yield pending.record;
      pending.end();
      return;
    }
    const record = engine.startMatchedReceive(buffer.pointer, plan.room, envelope);
    yield record;
    this.#endReceive(plan, record, buffer, posted, probed);
  }

  // Completion

  *#wait(requests: readonly number[], inOrder: boolean): Steps {
    const left = new Set(requests);
    const { engine } = this.#process;
    const isComplete = (request: number): boolean => engine.isComplete(this.#pending.get(request)!.record);
    while (left.size !== 0) {
      const [first] = left;
      if (inOrder) yield this.#pending.get(first!)!.record;
      else {
        const describe = (): string =>
          [...left]
            .map((request) => describeRequest(engine.records, this.#pending.get(request)!.record))
            .join("; or: ");
        yield { kind: "until", describe, ready: () => [...left].some(isComplete) };
      }
      const request = inOrder ? first! : [...left].find(isComplete)!;
      this.#pending.get(request)!.end();
      this.#pending.delete(request);
      left.delete(request);
    }
  }

  #endSend(record: RecordId, buffer: Buffer, what: string, wantedCancelled: boolean): void {
    const { engine, rank } = this.#process;
    const cancelled = (engine.records.get(record, R_FLAGS) & RecordFlag.CANCELLED) !== 0;
    this.#observation.ended.push({
      rank,
      what,
      error: engine.records.get(record, R_ERROR),
      cancelled,
      wantedCancelled,
    });
    engine.giveBack(record);
    this.#release(buffer, false);
  }

  #endReceive(plan: ReceivePlan, record: RecordId, buffer: Buffer, posted: number, probed: Receipt["probed"]): void {
    const { engine } = this.#process;
    const { records } = engine;
    const comm = this.#communicator(plan.communicator);
    const status = {
      source: comm.peers.rankOf(records.get(record, R_STATUS_SOURCE) as never),
      tag: records.get(record, R_STATUS_TAG),
      bytes: records.get(record, R_STATUS_BYTES),
      error: records.get(record, R_ERROR),
    };
    this.#noteReceipt(plan, buffer, posted, status, probed);
    engine.giveBack(record);
    this.#release(buffer, false);
  }

  #noteReceipt(plan: ReceivePlan, buffer: Buffer, posted: number, status: Status, probed: Receipt["probed"]): void {
    const view = this.#view(buffer, plan.room);
    const number = this.#messageOf(plan, status, view);
    const message = this.#script.messages[number];
    this.#observation.receipts.push({
      receive: plan.number,
      posted,
      message: message === undefined ? -1 : number,
      ...status,
      wrongByte: message === undefined || status.error !== 0 ? -1 : firstWrongByte(view, message, status.bytes),
      probed,
    });
  }

  /** Which message came: the only one that may, the one its tag names (open ranks), or the one it says it is (groups). */
  #messageOf(plan: ReceivePlan, status: Status, view: Uint8Array): number {
    if (plan.mayTake === null) return status.tag;
    if (plan.mayTake.length === 1) return plan.mayTake[0]!;
    return status.bytes >= 4 ? numberIn(view) : -1;
  }

  // Cancelling

  *#cancelReceive(action: Extract<Action, { kind: "cancel-receive" }>): Steps {
    const { core, engine } = this.#process;
    const buffer = this.#buffer(8, false);
    const comm = this.#communicator(action.communicator);
    const record = core.startReceive(comm, buffer.pointer, 8, action.source, action.tag);
    engine.cancel(record);
    yield record;
    this.#endSend(record, buffer, "receive that was cancelled", true);
  }

  *#cancelSend(action: Extract<Action, { kind: "cancel-send" }>): Steps {
    const { core, engine } = this.#process;
    const buffer = this.#buffer(action.bytes, false);
    const comm = this.#communicator(action.communicator);
    const { to, tag, bytes } = action;
    const record = core.startSend(comm, buffer.pointer, bytes, to, tag, SendMode.SYNCHRONOUS);
    yield this.#process.compute(3_000);
    engine.cancel(record);
    yield record;
    this.#endSend(record, buffer, "send that was cancelled", true);
  }

  // Collectives and communicators

  #startCollective(number: number): Pending {
    const plan = this.#script.collectives[number]!;
    const comm = this.#communicator(plan.communicator);
    const call = new CollectiveCall(plan, comm, this.#process);
    return {
      record: call.record,
      end: () => {
        this.#observation.collectives.push({ collective: number, rank: comm.rank, ...call.end() });
      },
    };
  }

  *#make({ parent, communicator, color, key }: Extract<Action, { kind: "make" }>): Steps {
    const { core, engine, rank } = this.#process;
    const from = this.#communicator(parent);
    const task = color === null ? new Duplicate(from) : new Split(from, color < 0 ? UNDEFINED : color, key);
    const record = core.start(task);
    yield record;
    engine.giveBack(record);
    if (task.result === null) return;
    const { context, size } = task.result;
    this.#observation.communicators.push({ communicator, member: rank, rank: task.result.rank, size, context });
    this.#communicators.set(communicator, task.result);
  }

  // Small things

  #communicator(number: number): Communicator {
    const comm = this.#communicators.get(number);
    assert(comm !== undefined, `a script of rank ${this.#process.rank} uses communicator ${number}, which it has not`);
    return comm;
  }

  #worldRank(comm: Communicator, rank: number): number {
    return rank === ANY_SOURCE ? ANY_SOURCE : comm.peers.worldRank(rank as CommRank);
  }

  #buffer(bytes: number, lent: boolean): Buffer {
    const { memory } = this.#process;
    if (!lent) return { pointer: memory.allocate(bytes), lentView: null };
    const lentView = new Uint8Array(bytes);
    return { pointer: memory.lend(lentView), lentView };
  }

  #view({ pointer, lentView }: Buffer, bytes: number): Uint8Array {
    return lentView ?? this.#process.memory.view(pointer, bytes);
  }

  /** The engine ends the loan of a request's view; without a request we do. */
  #release({ pointer, lentView }: Buffer, endLoan: boolean): void {
    const { memory } = this.#process;
    if (lentView === null) memory.free(pointer);
    else if (endLoan) memory.giveBack(pointer);
  }
}
