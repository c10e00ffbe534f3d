/**
 * Messages between two ranks, as methods of a communicator: MPI 5.0 chapter 3.
 *
 * Typed arrays, and arrays with a datatype, travel as bytes. Anything else is an object and travels by structured clone; it
 * is received by the forms of `recv` that take no buffer.
 */
import type { Pointer, RecordId } from "../core/base/brand.ts";
import { ANY_SOURCE, ANY_TAG, PROC_NULL } from "../core/base/constants.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import {
  checkDest,
  checkOpen,
  checkProbe,
  checkSize,
  checkSource,
  checkTag,
  checkWantedTag,
  isUsual,
  messageBytesMax,
} from "../core/binding/checks.ts";
import { type Choice, messageChoice, messageOf } from "../core/binding/choices.ts";
import { Now, type Operations } from "../core/binding/operations.ts";
import { pack, packSize, unpack } from "../core/comm/datatype/pack.ts";
import type { Communicator as CoreCommunicator } from "../core/process/communicator.ts";
import { SendMode } from "../core/request/records.ts";
import {
  asBytes,
  type BufferLike,
  type Buffers,
  type Items,
  isTypedArray,
  isTypedBuffer,
  normalized,
  type TypedArray,
  type TypedBuffer,
} from "./buffers.ts";
import { chooseLater, chooseNow } from "./choices.ts";
import type { Environment } from "./environment.ts";
import type { Host, Tracer } from "./host.ts";
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
  readonly #environment: Environment;
  readonly #operations: Operations;
  readonly #buffers: Buffers;
  readonly #tracer: Tracer | null;
  /** The communicator itself; for the layers beside this one. */
  readonly core: CoreCommunicator;

  constructor(environment: Environment, core: CoreCommunicator) {
    this.#environment = environment;
    this.#operations = environment.operations;
    this.#buffers = environment.buffers;
    this.#tracer = environment.host.tracer;
    this.core = core;
  }

  protected get environment(): Environment {
    return this.#environment;
  }

  protected get operations(): Operations {
    return this.#operations;
  }

  protected get host(): Host {
    return this.#environment.host;
  }

  get rank(): number {
    return this.core.rank;
  }

  get size(): number {
    return this.core.size;
  }

  abstract raise(error: MpiError): never;

  // Blocking

  /** Standard mode: returns when the data may be changed again. */
  send(data: BufferLike | unknown, to: To): void {
    const { dest, tag = 0 } = to;
    this.#checkSend(dest, tag);
    const tracer = this.#tracer;
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
    const length = packed.byteLength;
    this.#checkSize(length);
    const { buffered, operations } = this.#environment;
    this.#guard(() => buffered.checkRoom(operations, length));
    const copy = asBytes(packed).slice();
    buffered.hold(operations, this.#startSend(copy, length, dest, tag, SendMode.BUFFERED), length, null);
    return new Request(this.#environment, this, this.#done());
  }

  irecv(buffer: BufferLike, from: From = {}): Request {
    const { source = ANY_SOURCE, tag = ANY_TAG } = from;
    this.#checkReceive(source, tag);
    return new Request(this.#environment, this, this.#startReceive(buffer, source, tag));
  }

  isendrecv(data: BufferLike | unknown, to: To, buffer: BufferLike, from: From = {}): Request {
    const { source = ANY_SOURCE, tag = ANY_TAG } = from;
    this.#checkReceive(source, tag);
    this.#checkSend(to.dest, to.tag ?? 0);
    const bytes = this.#packed(data);
    const length = bytes.byteLength;
    // A send that is refused must not leave the receive behind.
    this.#checkSize(length);
    const received = this.#startReceive(buffer, source, tag);
    const sent = this.#startSend(bytes, length, to.dest, to.tag ?? 0, SendMode.STANDARD);
    return new SendrecvRequest(this.#environment, this, received, sent);
  }

  isendrecvReplace(buffer: BufferLike, to: To, from: From = {}): Request {
    const packed = this.#packed(buffer);
    this.#checkSize(packed.byteLength);
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
    const operations = this.#operations;
    const { choices } = operations;
    if (choices === null) {
      operations.look();
      return this.#find(source, tag);
    }
    return messageOf(operations, chooseNow(operations, choices, this.#choice(source, tag)));
  }

  #findLater(source: number, tag: number): RecordId {
    const operations = this.#operations;
    const { choices } = operations;
    if (choices !== null && source === ANY_SOURCE) {
      return messageOf(operations, chooseLater(operations, choices, this.#choice(source, tag)));
    }
    let envelope = -1 as RecordId;
    operations.waitUntil(() => {
      envelope = this.#find(source, tag);
      return envelope >= 0;
    });
    return envelope;
  }

  /** Raises the error when no message can come any more. */
  #find(source: number, tag: number): RecordId {
    const envelope = this.#operations.probe(this.core, source, tag);
    if (envelope < 0) this.#guard(() => checkProbe(this.#operations, this, source));
    return envelope;
  }

  #choice(source: number, tag: number): Choice {
    const choice = messageChoice(this.#operations, { comm: this.core, source, tag });
    return {
      ...choice,
      now: () => {
        const outcome = choice.now();
        if (outcome === null) this.#find(source, tag);
        return outcome;
      },
    };
  }

  #setAside(envelope: RecordId): Message {
    this.#operations.setAside(envelope);
    return new Message(this, this.#statusOf(envelope), envelope);
  }

  /** Receives a message found by `mprobe`; called by `Message`. */
  receiveMatched(buffer: BufferLike, envelope: RecordId): Request {
    if (envelope < 0) return this.irecv(buffer, { source: PROC_NULL });
    const { pointer, room, after } = this.#landing(buffer);
    const record = this.#operations.startMatchedReceive(pointer, room, envelope);
    return new Request(this.#environment, this, { record, after });
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
    return new PersistentRequest(this.#environment, this, () => {
      this.ibsend(data, to);
      return this.#done();
    });
  }

  recvInit(buffer: BufferLike, from: From = {}): PersistentRequest {
    const { source = ANY_SOURCE, tag = ANY_TAG } = from;
    this.#checkReceive(source, tag);
    return new PersistentRequest(this.#environment, this, () => this.#startReceive(buffer, source, tag));
  }

  // Inside

  #sendInit(data: BufferLike, { dest, tag = 0 }: To, mode: SendMode): PersistentRequest {
    this.#checkSend(dest, tag);
    return new PersistentRequest(this.#environment, this, () => {
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
    const operations = this.#operations;
    const { core } = this;
    const seen = buffers.seenOut;
    buffers.see(seen, data);
    const { bytes } = seen;
    this.#checkSize(bytes);
    let pointer: Pointer;
    if (seen.kind === SeenKind.STAGED) {
      buffers.copyIn(data, buffers.stageOut, bytes);
      if (operations.sendNow(core, buffers.stageOut, bytes, dest, tag)) return;
      // It has to wait, and the stage may be needed again before it leaves.
      pointer = buffers.pointerOf(data);
    } else {
      pointer = buffers.pointerTo(seen);
      if (operations.sendNow(core, pointer, bytes, dest, tag)) {
        if (pointer < 0) buffers.memory.giveBack(pointer);
        return;
      }
    }
    const record = operations.startSend(core, pointer, bytes, dest, tag, SendMode.STANDARD);
    new Request(this.#environment, this, { record, after: null }).wait();
  }

  #sendBlocking(data: unknown, dest: number, tag: number, mode: SendMode): void {
    if (dest === PROC_NULL) {
      this.#checkNobody();
      return;
    }
    const bytes = this.#packed(data);
    const record = this.#startSend(bytes, bytes.byteLength, dest, tag, mode);
    new Request(this.#environment, this, { record, after: null }).wait();
  }

  #isend(data: BufferLike | unknown, { dest, tag = 0 }: To, mode: SendMode): Request {
    this.#checkSend(dest, tag);
    const bytes = this.#packed(data);
    const record = this.#startSend(bytes, bytes.byteLength, dest, tag, mode);
    return new Request(this.#environment, this, { record, after: null });
  }

  #startSend(bytes: TypedArray, length: number, dest: number, tag: number, mode: SendMode): RecordId {
    this.#checkSize(length);
    return this.#operations.startSend(this.core, this.#buffers.pointerOf(bytes), length, dest, tag, mode);
  }

  /** An operation that is complete from the start. */
  #done(): Started<Status> {
    const record = this.#operations.startSend(this.core, 0 as Pointer, 0, PROC_NULL, 0, SendMode.STANDARD);
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
      return this.#refuse(error);
    }
  }

  /** Where a message shall land, and what is to be done when it has. */
  #landing(buffer: BufferLike): { pointer: Pointer; room: number; after: AfterCompletion<Status> | null } {
    if (isTypedArray(buffer)) {
      const room = buffer.byteLength;
      this.#checkSize(room);
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
    return { record: this.#operations.startReceive(this.core, pointer, room, source, tag), after };
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
    const tracer = this.#tracer;
    if (tracer !== null) tracer.begin("recv", source, tag, buffer.byteLength);
    const buffers = this.#buffers;
    const seen = buffers.seenIn;
    buffers.see(seen, buffer);
    const room = seen.bytes;
    this.#checkSize(room);
    const staged = seen.kind === SeenKind.STAGED;
    const pointer = staged ? buffers.stageIn : buffers.pointerTo(seen);
    const operations = this.#operations;
    const { core } = this;
    if (operations.receiveNow(core, pointer, room, source, tag) === Now.DONE) {
      if (pointer < 0) buffers.memory.giveBack(pointer);
      outcome.source = operations.lastSource(core);
      outcome.tag = operations.lastTag;
      outcome.bytes = operations.lastBytes;
      outcome.error = operations.lastError;
    } else this.#receivePosted(pointer, room, source, tag, outcome);
    if (staged) buffers.copyOut(buffer, buffers.stageIn, outcome.bytes);
    if (tracer !== null) tracer.end();
    if (outcome.error !== 0) this.raise(errorOf(outcome));
    return outcome;
  }

  #receivePosted(to: Pointer, room: number, source: number, tag: number, outcome: Status): void {
    const operations = this.#operations;
    const record = operations.startReceive(this.core, to, room, source, tag);
    if (!operations.isComplete(record)) operations.wait(record);
    operations.readOutcome(this.core, record, outcome);
    operations.end(record);
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

  #statusOf(envelope: RecordId): Status {
    const status = new Status();
    this.#operations.readEnvelope(this.core, envelope, status);
    return status;
  }

  /** A message to or from nobody goes well everywhere but on a revoked communicator. */
  #checkNobody(): void {
    if (this.core.isRevoked) this.raise(errorOf(new Status(-1, -2, 0, ErrorClass.REVOKED)));
  }

  #checkSend(dest: number, tag: number): void {
    if (isUsual(this.core, dest, tag)) return;
    try {
      checkOpen(this, "send");
      checkDest(this, dest);
      checkTag(tag);
    } catch (error) {
      this.#refuse(error);
    }
  }

  #checkReceive(source: number, tag: number): void {
    if (isUsual(this.core, source, tag)) return;
    try {
      checkOpen(this, "receive");
      checkSource(this, source);
      checkWantedTag(tag);
    } catch (error) {
      this.#refuse(error);
    }
  }

  #checkSize(bytes: number): void {
    if (bytes > messageBytesMax) this.#guard(() => checkSize(bytes));
  }

  #refuse(error: unknown): never {
    if (error instanceof MpiError) this.raise(error);
    throw error;
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
