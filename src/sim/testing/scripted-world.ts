/**
 * A world without programs, for tests that drive the engines of its processes by hand: start something, let everything
 * happen (`settle`), look. Contents are a function of a number the test chooses, so a message that is torn or swapped shows.
 */
import { filledBytes } from "../../../test/filled-bytes.ts";
import { assert } from "../../core/base/assert.ts";
import type { Pointer, RecordId } from "../../core/base/brand.ts";
import {
  R_ERROR,
  R_FLAGS,
  R_STATUS_BYTES,
  R_STATUS_SOURCE,
  R_STATUS_TAG,
  RecordFlag,
  SendMode,
} from "../../core/request/records.ts";
import { World, type WorldOptions } from "../world.ts";

export interface Sent {
  readonly from: number;
  readonly to: number;
  readonly bytes?: number;
  /** Decides the contents. */
  readonly number?: number;
  readonly tag?: number;
  readonly context?: number;
  readonly mode?: SendMode;
  /** The buffer is an ordinary view, lent for the time of the request. */
  readonly lent?: boolean;
}

export interface Wanted {
  readonly at: number;
  readonly source: number;
  readonly tag?: number;
  readonly room?: number;
  readonly context?: number;
  readonly lent?: boolean;
}

interface ScriptedOutcome {
  readonly source: number;
  readonly tag: number;
  readonly bytes: number;
  readonly error: number;
  readonly cancelled: boolean;
}

interface Loan {
  readonly pointer: Pointer;
  readonly view: Uint8Array | null;
}

/** A receive takes any message of these tests; with its header it fits into a block of the arena. */
const roomDefault = (1 << 18) - 64;

const contentByte = (number: number, index: number): number => (number * 131 + index * 7 + (index >> 8)) & 0xff;

/** By the last byte of the number, which decides: messages of many worlds have few contents. */
const contentsKept = new Map<number, Uint8Array>();

/** The contents of a message. */
function contentsOf(number: number, bytes: number): Uint8Array {
  const kept = contentsKept.get(number & 0xff);
  if (kept !== undefined && kept.length >= bytes) return kept.subarray(0, bytes);
  const made = filledBytes(bytes, (index) => contentByte(number, index));
  contentsKept.set(number & 0xff, made);
  return made;
}

export class ByHand {
  readonly world: World;
  /** Buffers of requests, by rank and request. */
  readonly #buffers: Loan[][];

  constructor(options: WorldOptions) {
    this.world = new World(options);
    this.#buffers = this.world.processes.map(() => []);
  }

  engine(rank: number) {
    return this.world.processes[rank]!.engine;
  }

  settle(): void {
    this.world.run();
  }

  send({
    from,
    to,
    bytes = 0,
    number = 0,
    tag = 0,
    context = 2,
    mode = SendMode.STANDARD,
    lent = false,
  }: Sent): RecordId {
    const loan = this.#buffer(from, bytes, lent);
    this.#view(from, loan, bytes).set(contentsOf(number, bytes));
    const request = this.engine(from).startSend(loan.pointer, bytes, to, tag, context, mode);
    this.#buffers[from]![request] = loan;
    return request;
  }

  receive({ at, source, tag = 0, room = roomDefault, context = 2, lent = false }: Wanted): RecordId {
    const loan = this.#buffer(at, room, lent);
    const request = this.engine(at).startReceive(loan.pointer, room, source, tag, context);
    this.#buffers[at]![request] = loan;
    return request;
  }

  /** As MPI_Mprobe: the envelope, set aside; −1: no such message has come. */
  probeAside(at: number, source: number, tag: number, context = 2): RecordId {
    const engine = this.engine(at);
    const envelope = engine.probe(source, tag, context);
    if (envelope >= 0) engine.setAside(envelope);
    return envelope;
  }

  receiveMatched(at: number, envelope: RecordId, room = roomDefault): RecordId {
    const loan = this.#buffer(at, room, false);
    const request = this.engine(at).startMatchedReceive(loan.pointer, room, envelope);
    this.#buffers[at]![request] = loan;
    return request;
  }

  complete(rank: number, request: RecordId): boolean {
    return this.engine(rank).isComplete(request);
  }

  /** The outcome of a complete request, which ends with this; contents are checked when their number is given. */
  end(rank: number, request: RecordId, contents?: { readonly number: number } | "its tag"): ScriptedOutcome {
    const engine = this.engine(rank);
    assert(engine.isComplete(request), `request ${request} of rank ${rank} is not complete`);
    const { records } = engine;
    const outcome: ScriptedOutcome = {
      source: records.get(request, R_STATUS_SOURCE),
      tag: records.get(request, R_STATUS_TAG),
      bytes: records.get(request, R_STATUS_BYTES),
      error: records.get(request, R_ERROR),
      cancelled: (records.get(request, R_FLAGS) & RecordFlag.CANCELLED) !== 0,
    };
    const loan = this.#buffers[rank]![request]!;
    const number = contents === "its tag" ? outcome.tag : contents?.number;
    if (number !== undefined) this.#check(rank, loan, outcome.bytes, number);
    engine.giveBack(request);
    if (loan.view === null) this.world.processes[rank]!.memory.free(loan.pointer);
    return outcome;
  }

  /** Everything that is left behind anywhere; empty when the world is clean. */
  leftBehind(): string[] {
    const left: string[] = [];
    for (const { rank, engine, memory, transport, state } of this.world.processes) {
      if (state === "dead") continue;
      if (engine.records.count !== 0) left.push(`rank ${rank}: ${engine.records.count} records`);
      if (engine.store.bytes !== 0) left.push(`rank ${rank}: ${engine.store.bytes} unexpected bytes`);
      if (memory.bytesAllocated !== 0) left.push(`rank ${rank}: ${memory.bytesAllocated} bytes`);
      if (memory.viewsLent !== 0) left.push(`rank ${rank}: ${memory.viewsLent} lent views`);
      if (transport.arrivedCount !== 0) left.push(`rank ${rank}: ${transport.arrivedCount} packets arrived`);
    }
    if (this.world.network.packetsInFlight !== 0) left.push(`${this.world.network.packetsInFlight} packets in flight`);
    return left;
  }

  #buffer(rank: number, bytes: number, lent: boolean): Loan {
    const { memory } = this.world.processes[rank]!;
    if (!lent) return { pointer: memory.allocate(bytes), view: null };
    const view = new Uint8Array(bytes);
    return { pointer: memory.lend(view), view };
  }

  #view(rank: number, { pointer, view }: Loan, bytes: number): Uint8Array {
    return view ?? this.world.processes[rank]!.memory.view(pointer, bytes);
  }

  #check(rank: number, loan: Loan, bytes: number, number: number): void {
    const view = this.#view(rank, loan, bytes).subarray(0, bytes);
    const wanted = contentsOf(number, bytes);
    if (Buffer.compare(view, wanted) === 0) return;
    const wrong = view.findIndex((byte, index) => byte !== wanted[index]);
    throw new Error(
      `byte ${wrong} of ${bytes} of message ${number} at rank ${rank} is ${view[wrong]}, not ${wanted[wrong]}`,
    );
  }
}
