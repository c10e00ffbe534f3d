/**
 * Messages between two ranks, as methods of a communicator: MPI 5.0 chapter 3.
 *
 * Typed arrays, and arrays with a datatype, travel as bytes. Anything else is an object and travels by structured clone; it
 * is received by the forms of `recv` that take no buffer.
 */
import type { Pointer, RecordId } from "../core/base/brand.ts";
import { ANY_SOURCE, ANY_TAG, PROC_NULL, TAG_UB } from "../core/base/constants.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { pack, packSize, unpack } from "../core/comm/pack.ts";
import { ChoiceKind } from "../core/ft/choices.ts";
import type { Engine } from "../core/p2p/engine.ts";
import type { Communicator as CoreCommunicator } from "../core/process/communicator.ts";
import { R_BYTES, R_PEER, R_SEQUENCE, R_TAG, SendMode } from "../core/request/records.ts";
import {
  asBytes,
  type BufferLike,
  type Buffers,
  type Items,
  isTypedArray,
  isTypedBuffer,
  messageBytesMax,
  normalized,
  type TypedArray,
  type TypedBuffer,
  tooLarge,
} from "./buffers.ts";
import { type Choice, chooseLater, chooseNow } from "./choices.ts";
import type { Host } from "./host.ts";
import { bytesOfObject, objectOfBytes } from "./objects.ts";
import {
  type AfterCompletion,
  errorOf,
  PersistentRequest,
  Request,
  type RequestOwner,
  type Started,
} from "./request.ts";
import { SeenKind } from "./seen-array.ts";
import { SendrecvRequest } from "./sendrecv-request.ts";
import { Status } from "./status.ts";

export interface To {
  readonly dest: number;
  readonly tag?: number;
}

export interface From {
  /** Defaults to ANY_SOURCE. */
  readonly source?: number;
  /** Defaults to ANY_TAG. */
  readonly tag?: number;
  /** Filled in when given: for the forms that return the message itself. */
  readonly status?: Status;
}

export abstract class PointToPoint implements RequestOwner {
  readonly #host: Host;
  readonly #engine: Engine;
  readonly #buffers: Buffers;
  /** The communicator itself; for the layers beside this one. */
  readonly core: CoreCommunicator;

  constructor(host: Host, buffers: Buffers, core: CoreCommunicator) {
    this.#host = host;
    this.#engine = host.process.engine;
    this.#buffers = buffers;
    this.core = core;
  }

  protected get host(): Host {
    return this.#host;
  }

  protected get buffers(): Buffers {
    return this.#buffers;
  }

  get rank(): number {
    return this.core.rank;
  }

  get size(): number {
    return this.core.size;
  }

  abstract raise(error: MpiError): never;

  rankOfWorld(world: number): number {
    return world < 0 ? world : this.core.peers.rankOf(world as never);
  }

  // Blocking

  /** Standard mode: returns when the data may be changed again. */
  send(data: BufferLike | unknown, to: To): void {
    const { dest, tag = 0 } = to;
    this.#checkSend(dest, tag);
    const tracer = this.#host.tracer;
    if (tracer !== null) tracer.begin("send", dest, tag, isTypedArray(data) ? data.byteLength : 0);
    if (isTypedArray(data)) this.#sendArray(data, dest, tag);
    else this.#sendBlocking(data, dest, tag, SendMode.STANDARD);
    if (tracer !== null) tracer.end();
  }

  /** Synchronous mode: returns when the receive has started. */
  ssend(data: BufferLike | unknown, to: To): void {
    this.#checkSend(to.dest, to.tag ?? 0);
    this.#sendBlocking(data, to.dest, to.tag ?? 0, SendMode.SYNCHRONOUS);
  }

  /** Ready mode: the program promises that the receive is posted. */
  rsend(data: BufferLike | unknown, to: To): void {
    this.#checkSend(to.dest, to.tag ?? 0);
    this.#sendBlocking(data, to.dest, to.tag ?? 0, SendMode.READY);
  }

  /** Buffered mode: the data is copied, the call never waits for the receiver. */
  bsend(data: BufferLike | unknown, to: To): void {
    this.ibsend(data, to);
  }

  /** Receives into `buffer`. */
  recv(buffer: BufferLike, from?: From): Status;
  /** Receives an object. */
  recv<T = unknown>(from?: From): T;
  recv(first?: BufferLike | From, second?: From): unknown {
    if (isTypedArray(first))
      return this.#recvArray(first, second?.source ?? ANY_SOURCE, second?.tag ?? ANY_TAG, second?.status);
    if (isTypedBuffer(first)) return this.irecv(first, second).wait();
    return this.#recvObject(first ?? {});
  }

  /** Sends and receives at once: cannot deadlock against another sendrecv (MPI 5.0 §3.10). */
  sendrecv(data: BufferLike | unknown, to: To, buffer: BufferLike, from: From = {}): Status {
    return this.isendrecv(data, to, buffer, from).wait();
  }

  /** As `sendrecv`, with one buffer for both. */
  sendrecvReplace(buffer: BufferLike, to: To, from: From = {}): Status {
    return this.isendrecvReplace(buffer, to, from).wait();
  }

  // Non-blocking

  isend(data: BufferLike | unknown, to: To): Request {
    return this.#isend(data, to, SendMode.STANDARD);
  }

  issend(data: BufferLike | unknown, to: To): Request {
    return this.#isend(data, to, SendMode.SYNCHRONOUS);
  }

  irsend(data: BufferLike | unknown, to: To): Request {
    return this.#isend(data, to, SendMode.READY);
  }

  ibsend(data: BufferLike | unknown, to: To): Request {
    const { dest, tag = 0 } = to;
    this.#checkSend(dest, tag);
    // A copy of our own, lent until the message has left; the program's request is complete at once.
    const packed = this.#packed(data);
    if (packed.byteLength > messageBytesMax) this.#refuseSize(packed.byteLength);
    const copy = asBytes(packed).slice();
    const { attached } = this.#buffers;
    this.#guard(() => attached.check(this.#engine, copy.length));
    attached.hold(this.#engine, this.#startSend(copy, copy.length, dest, tag, SendMode.BUFFERED), copy.length);
    return new Request(this.#host, this, this.#done());
  }

  irecv(buffer: BufferLike, from: From = {}): Request {
    const { source = ANY_SOURCE, tag = ANY_TAG } = from;
    this.#checkReceive(source, tag);
    return new Request(this.#host, this, this.#startReceive(buffer, source, tag));
  }

  isendrecv(data: BufferLike | unknown, to: To, buffer: BufferLike, from: From = {}): Request {
    const { source = ANY_SOURCE, tag = ANY_TAG } = from;
    this.#checkReceive(source, tag);
    this.#checkSend(to.dest, to.tag ?? 0);
    const bytes = this.#packed(data);
    const length = bytes.byteLength;
    // A send that is refused must not leave the receive behind.
    if (length > messageBytesMax) this.#refuseSize(length);
    const received = this.#startReceive(buffer, source, tag);
    const sent = this.#startSend(bytes, length, to.dest, to.tag ?? 0, SendMode.STANDARD);
    return new SendrecvRequest(this.#host, this, received, sent);
  }

  isendrecvReplace(buffer: BufferLike, to: To, from: From = {}): Request {
    const packed = this.#packed(buffer);
    if (packed.byteLength > messageBytesMax) this.#refuseSize(packed.byteLength);
    return this.isendrecv(asBytes(packed).slice(), to, buffer, from);
  }

  // Probing

  /** Waits until a message is there that `recv` with the same arguments would take, and says what it is. */
  probe(from: From = {}): Status {
    const { source = ANY_SOURCE, tag = ANY_TAG } = from;
    this.#checkReceive(source, tag);
    if (source === PROC_NULL) return new Status(PROC_NULL, ANY_TAG, 0);
    return this.#statusOf(this.#findLater(source, tag));
  }

  iprobe(from: From = {}): Status | null {
    const { source = ANY_SOURCE, tag = ANY_TAG } = from;
    this.#checkReceive(source, tag);
    if (source === PROC_NULL) return new Status(PROC_NULL, ANY_TAG, 0);
    const envelope = this.#findNow(source, tag);
    return envelope < 0 ? null : this.#statusOf(envelope);
  }

  /** As `probe`, and the message is set aside for the `Message` that is returned. */
  mprobe(from: From = {}): Message {
    const { source = ANY_SOURCE, tag = ANY_TAG } = from;
    this.#checkReceive(source, tag);
    if (source === PROC_NULL) return new Message(this, new Status(PROC_NULL, ANY_TAG, 0), -1 as RecordId);
    return this.#setAside(this.#findLater(source, tag));
  }

  improbe(from: From = {}): Message | null {
    const { source = ANY_SOURCE, tag = ANY_TAG } = from;
    this.#checkReceive(source, tag);
    if (source === PROC_NULL) return new Message(this, new Status(PROC_NULL, ANY_TAG, 0), -1 as RecordId);
    const envelope = this.#findNow(source, tag);
    return envelope < 0 ? null : this.#setAside(envelope);
  }

  /** The oldest message that such a receive would take; −1: none is there. */
  #findNow(source: number, tag: number): RecordId {
    const { choices } = this.#host.process;
    if (choices === null) {
      this.#host.look();
      return this.#find(source, tag);
    }
    const known = chooseNow(this.#host, choices, this.#choice(source, tag));
    return known === null ? (-1 as RecordId) : this.#engine.unexpectedOf(known[0]!, known[1]!);
  }

  #findLater(source: number, tag: number): RecordId {
    const { choices } = this.#host.process;
    if (choices !== null && source === ANY_SOURCE) {
      const known = chooseLater(this.#host, choices, this.#choice(source, tag));
      return this.#engine.unexpectedOf(known[0]!, known[1]!);
    }
    let envelope = -1 as RecordId;
    this.#host.waitUntil(() => {
      envelope = this.#find(source, tag);
      return envelope >= 0;
    });
    return envelope;
  }

  #find(source: number, tag: number): RecordId {
    const envelope = this.#engine.probe(this.#world(source), tag, this.core.context);
    if (envelope < 0) this.#guard(() => this.#host.process.failures.checkProbe(this.core, source));
    return envelope;
  }

  /** Which message a probe finds: world rank of its source, and its number. */
  #choice(source: number, tag: number): Choice {
    const engine = this.#engine;
    const { records } = engine;
    return {
      kind: ChoiceKind.PROBE,
      now: () => {
        const envelope = this.#find(source, tag);
        return envelope < 0 ? null : [records.get(envelope, R_PEER), records.get(envelope, R_SEQUENCE)];
      },
      isSo: (outcome) => engine.unexpectedOf(outcome[0]!, outcome[1]!) >= 0,
    };
  }

  #setAside(envelope: RecordId): Message {
    this.#engine.setAside(envelope);
    return new Message(this, this.#statusOf(envelope), envelope);
  }

  /** Receives a message found by `mprobe`; called by `Message`. */
  receiveMatched(buffer: BufferLike, envelope: RecordId): Request {
    if (envelope < 0) return this.irecv(buffer, { source: PROC_NULL });
    const { pointer, room, after } = this.#landing(buffer);
    const record = this.#engine.startMatchedReceive(pointer, room, envelope);
    return new Request(this.#host, this, { record, after });
  }

  // Persistent

  sendInit(data: BufferLike, to: To): PersistentRequest {
    return this.#sendInit(data, to, SendMode.STANDARD);
  }

  ssendInit(data: BufferLike, to: To): PersistentRequest {
    return this.#sendInit(data, to, SendMode.SYNCHRONOUS);
  }

  rsendInit(data: BufferLike, to: To): PersistentRequest {
    return this.#sendInit(data, to, SendMode.READY);
  }

  bsendInit(data: BufferLike, to: To): PersistentRequest {
    this.#checkSend(to.dest, to.tag ?? 0);
    return new PersistentRequest(this.#host, this, () => {
      this.ibsend(data, to);
      return this.#done();
    });
  }

  recvInit(buffer: BufferLike, from: From = {}): PersistentRequest {
    const { source = ANY_SOURCE, tag = ANY_TAG } = from;
    this.#checkReceive(source, tag);
    return new PersistentRequest(this.#host, this, () => this.#startReceive(buffer, source, tag));
  }

  // Inside

  #sendInit(data: BufferLike, { dest, tag = 0 }: To, mode: SendMode): PersistentRequest {
    this.#checkSend(dest, tag);
    return new PersistentRequest(this.#host, this, () => {
      const bytes = this.#packed(data);
      return { record: this.#startSend(bytes, bytes.byteLength, dest, tag, mode), after: null };
    });
  }

  /** A standard send of an array: a small one needs no request. */
  #sendArray(data: TypedArray, dest: number, tag: number): void {
    if (dest === PROC_NULL) {
      this.#checkNobody();
      return;
    }
    const buffers = this.#buffers;
    const engine = this.#engine;
    const seen = buffers.seenOut;
    buffers.see(seen, data);
    const world = this.core.peers.worldRank(dest as never);
    const { context } = this.core;
    const { bytes } = seen;
    if (bytes > messageBytesMax) this.#refuseSize(bytes);
    let pointer: Pointer;
    if (seen.kind === SeenKind.STAGED) {
      buffers.copyIn(data, buffers.stageOut, bytes);
      if (engine.sendNow(buffers.stageOut, bytes, world, tag, context)) return;
      // It has to wait, and the stage may be needed again before it leaves.
      pointer = buffers.pointerOf(data);
    } else {
      pointer = buffers.pointerTo(seen);
      if (engine.sendNow(pointer, bytes, world, tag, context)) {
        if (pointer < 0) buffers.memory.giveBack(pointer);
        return;
      }
    }
    const request = engine.startSend(pointer, bytes, world, tag, context, SendMode.STANDARD);
    if (!engine.isComplete(request)) this.#host.wait(request);
    new Request(this.#host, this, { record: request, after: null }).wait();
  }

  #sendBlocking(data: unknown, dest: number, tag: number, mode: SendMode): void {
    if (dest === PROC_NULL) {
      this.#checkNobody();
      return;
    }
    const bytes = this.#packed(data);
    const request = this.#startSend(bytes, bytes.byteLength, dest, tag, mode);
    if (!this.#engine.isComplete(request)) this.#host.wait(request);
    new Request(this.#host, this, { record: request, after: null }).wait();
  }

  #isend(data: BufferLike | unknown, { dest, tag = 0 }: To, mode: SendMode): Request {
    this.#checkSend(dest, tag);
    const bytes = this.#packed(data);
    const record = this.#startSend(bytes, bytes.byteLength, dest, tag, mode);
    return new Request(this.#host, this, { record, after: null });
  }

  #startSend(bytes: TypedArray, length: number, dest: number, tag: number, mode: SendMode): RecordId {
    if (length > messageBytesMax) this.#refuseSize(length);
    return this.#host.process.startSend(this.core, this.#buffers.pointerOf(bytes), length, dest, tag, mode);
  }

  /** An operation that is complete from the start. */
  #done(): Started<Status> {
    const record = this.#host.process.startSend(this.core, 0 as Pointer, 0, PROC_NULL, 0, SendMode.STANDARD);
    return { record, after: null };
  }

  /** The bytes of a message: the array itself where its elements lie side by side, a packed copy otherwise. */
  #packed(data: unknown): TypedArray {
    if (isTypedArray(data)) return data;
    if (!isTypedBuffer(data)) return this.#guard(() => bytesOfObject("send the object", data));
    const { bytes, offset, count, type } = this.#normalized(data);
    const length = packSize(type, count);
    if (type.isContiguous(count)) return bytes.subarray(offset + type.trueLb, offset + type.trueLb + length);
    const packed = new Uint8Array(length);
    pack(type, count, bytes, offset, packed, 0);
    return packed;
  }

  #normalized(buffer: TypedBuffer): Items {
    return this.#guard(() => normalized(buffer));
  }

  #guard<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      if (error instanceof MpiError) this.raise(error);
      throw error;
    }
  }

  /** Where a message shall land, and what is to be done when it has. */
  #landing(buffer: BufferLike): { pointer: Pointer; room: number; after: AfterCompletion<Status> | null } {
    if (isTypedArray(buffer)) {
      const room = buffer.byteLength;
      if (room > messageBytesMax) this.#refuseSize(room);
      return { pointer: this.#buffers.pointerOf(buffer), room, after: null };
    }
    if (!isTypedBuffer(buffer)) {
      this.raise(
        new MpiError(ErrorClass.BUFFER, "Cannot receive: the buffer is no typed array, and no array with a datatype"),
      );
    }
    const { bytes, offset, count, type } = this.#normalized(buffer);
    const room = packSize(type, count);
    if (type.isContiguous(count)) {
      const inner = bytes.subarray(offset + type.trueLb, offset + type.trueLb + room);
      return { pointer: this.#buffers.pointerOf(inner), room, after: null };
    }
    const scratch = new Uint8Array(room);
    return {
      pointer: this.#buffers.pointerOf(scratch),
      room,
      after: {
        finish: (status) => {
          unpack(type, count, scratch, 0, bytes, offset, { from: 0, bytes: status.bytes });
          return undefined;
        },
      },
    };
  }

  #startReceive(buffer: BufferLike, source: number, tag: number): Started<Status> {
    const { pointer, room, after } = this.#landing(buffer);
    return { record: this.#host.process.startReceive(this.core, pointer, room, source, tag), after };
  }

  #recvArray(buffer: TypedArray, source: number, tag: number, status: Status | undefined): Status {
    this.#checkReceive(source, tag);
    const outcome = status ?? new Status();
    if (source === PROC_NULL) {
      this.#checkNobody();
      outcome.source = PROC_NULL;
      outcome.tag = ANY_TAG;
      outcome.bytes = 0;
      return outcome;
    }
    const tracer = this.#host.tracer;
    if (tracer !== null) tracer.begin("recv", source, tag, buffer.byteLength);
    const buffers = this.#buffers;
    const engine = this.#engine;
    const seen = buffers.seenIn;
    buffers.see(seen, buffer);
    const room = seen.bytes;
    if (room > messageBytesMax) this.#refuseSize(room);
    const staged = seen.kind === SeenKind.STAGED;
    const pointer = staged ? buffers.stageIn : buffers.pointerTo(seen);
    this.#host.receive(pointer, room, this.#world(source), tag, this.core.context);
    if (pointer < 0) buffers.memory.giveBack(pointer);
    if (staged) buffers.copyOut(buffer, buffers.stageIn, engine.lastBytes);
    if (tracer !== null) tracer.end();
    outcome.source = this.rankOfWorld(engine.lastSource);
    outcome.tag = engine.lastTag;
    outcome.bytes = engine.lastBytes;
    outcome.error = engine.lastError;
    if (outcome.error !== 0) this.raise(errorOf(outcome));
    return outcome;
  }

  #recvObject(from: From): unknown {
    const message = this.mprobe(from);
    const bytes = new Uint8Array(message.status.bytes);
    const status = message.recv(bytes);
    if (from.status !== undefined) Object.assign(from.status, status);
    if (status.source === PROC_NULL) return undefined;
    const object = objectOfBytes(bytes);
    if (object === undefined) {
      this.raise(
        new MpiError(
          ErrorClass.TYPE,
          `Cannot read an object from rank ${status.source} with tag ${status.tag}: the message is ${status.bytes} plain bytes; receive it into a typed array`,
        ),
      );
    }
    return object.value;
  }

  #world(source: number): number {
    return source === ANY_SOURCE ? ANY_SOURCE : this.core.peers.worldRank(source as never);
  }

  #statusOf(envelope: RecordId): Status {
    const { records } = this.#engine;
    return new Status(
      this.rankOfWorld(records.get(envelope, R_PEER)),
      records.get(envelope, R_TAG),
      records.get(envelope, R_BYTES),
    );
  }

  /** A message to or from nobody goes well everywhere but on a revoked communicator. */
  #checkNobody(): void {
    if (this.core.isRevoked) this.raise(errorOf(new Status(-1, -2, 0, ErrorClass.REVOKED)));
  }

  #checkSend(dest: number, tag: number): void {
    if (this.core.freed) this.#refuseFreed("send");
    if (!(dest >= 0 && dest < this.core.peers.size && Number.isInteger(dest)) && dest !== PROC_NULL)
      this.#refuseRank("send to", dest);
    if (!(tag >= 0 && tag <= TAG_UB && Number.isInteger(tag))) {
      this.raise(
        new MpiError(ErrorClass.TAG, `Cannot send with tag ${tag}: tags are whole numbers from 0 to ${TAG_UB}`),
      );
    }
  }

  #checkReceive(source: number, tag: number): void {
    if (this.core.freed) this.#refuseFreed("receive");
    const isRank = source >= 0 && source < this.core.peers.size && Number.isInteger(source);
    if (!isRank && source !== ANY_SOURCE && source !== PROC_NULL) this.#refuseRank("receive from", source);
    if (!(tag >= 0 && tag <= TAG_UB && Number.isInteger(tag)) && tag !== ANY_TAG) {
      this.raise(
        new MpiError(
          ErrorClass.TAG,
          `Cannot receive with tag ${tag}: tags are whole numbers from 0 to ${TAG_UB}, or ANY_TAG`,
        ),
      );
    }
  }

  #refuseRank(what: string, rank: number): never {
    const last = this.core.peers.size - 1;
    this.raise(
      new MpiError(ErrorClass.RANK, `Cannot ${what} rank ${rank}: communicator ${this.label} has ranks 0 to ${last}`),
    );
  }

  #refuseSize(bytes: number): never {
    this.raise(tooLarge(bytes));
  }

  #refuseFreed(what: string): never {
    this.raise(new MpiError(ErrorClass.COMM, `Cannot ${what}: communicator ${this.label} has been freed`));
  }

  /** How messages to people call this communicator. */
  abstract get label(): string;
}

/** A message set aside by `mprobe`: only this object can receive it (MPI 5.0 §3.8.2). */
export class Message {
  readonly status: Status;
  readonly #owner: PointToPoint;
  #envelope: RecordId;
  #taken = false;

  constructor(owner: PointToPoint, status: Status, envelope: RecordId) {
    this.#owner = owner;
    this.status = status;
    this.#envelope = envelope;
  }

  recv(buffer: BufferLike): Status {
    return this.irecv(buffer).wait();
  }

  irecv(buffer: BufferLike): Request {
    if (this.#taken) {
      this.#owner.raise(new MpiError(ErrorClass.REQUEST, "Cannot receive the message: it has been received already"));
    }
    this.#taken = true;
    return this.#owner.receiveMatched(buffer, this.#envelope);
  }
}
