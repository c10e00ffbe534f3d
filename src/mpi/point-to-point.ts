/**
 * Messages between two ranks (MPI 5.0 chapter 3), as a part of a communicator: its methods translate their options and call
 * these. Probes are in probes.ts.
 *
 * Typed arrays, and arrays with a datatype, travel as bytes. Anything else is an object and travels by structured clone; it
 * is received by the form of `recv` that takes no buffer.
 */
import type { Pointer, RecordId } from "../core/base/brand.ts";
import { ANY_TAG, PROC_NULL } from "../core/base/constants.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import {
  checkDest,
  checkOpen,
  checkSize,
  checkSource,
  checkTag,
  checkWantedTag,
  isUsual,
  messageBytesMax,
} from "../core/binding/checks.ts";
import { Now, type Operations } from "../core/binding/operations.ts";
import { type ItemsInMemory, pack, packSize, unpack } from "../core/comm/datatype/pack.ts";
import type { Communicator as CoreCommunicator } from "../core/process/communicator.ts";
import { SendMode } from "../core/request/records.ts";
import {
  asBytes,
  type BufferLike,
  type Buffers,
  isTypedArray,
  isTypedBuffer,
  normalized,
  type TypedArray,
  type TypedBuffer,
} from "./buffers.ts";
import type { Environment } from "./environment.ts";
import type { Tracer } from "./host.ts";
import { bytesOfObject } from "./objects.ts";
import { guarded, type Owner, refuse } from "./owner.ts";
import { type AfterCompletion, errorOf, PersistentRequest, Request, type Started } from "./request.ts";
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

export class PointToPoint {
  private readonly environment: Environment;
  private readonly operations: Operations;
  private readonly buffers: Buffers;
  private readonly tracer: Tracer | null;
  private readonly owner: Owner;
  private readonly core: CoreCommunicator;

  constructor(environment: Environment, owner: Owner) {
    this.environment = environment;
    this.operations = environment.operations;
    this.buffers = environment.buffers;
    this.tracer = environment.host.tracer;
    this.owner = owner;
    this.core = owner.core;
  }

  // Sending

  /** A blocking send in standard mode. */
  send(data: unknown, dest: number, tag: number): void {
    this.checkSend(dest, tag);
    const { tracer } = this;
    if (tracer !== null) tracer.begin("send", dest, tag, isTypedArray(data) ? data.byteLength : 0);
    if (isTypedArray(data)) this.sendArray(data, dest, tag);
    else this.sendAndWait(data, dest, tag, SendMode.STANDARD);
    if (tracer !== null) tracer.end();
  }

  /** A blocking send in another mode. */
  sendInMode(mode: SendMode, data: unknown, dest: number, tag: number): void {
    this.checkSend(dest, tag);
    this.sendAndWait(data, dest, tag, mode);
  }

  isend(mode: SendMode, data: unknown, dest: number, tag: number): Request {
    this.checkSend(dest, tag);
    return this.requestOf(this.sending(data, dest, tag, mode));
  }

  /** In buffered mode: a copy of our own is lent until the message has left; the program's request is complete at once. */
  ibsend(data: unknown, dest: number, tag: number): Request {
    this.sendBuffered(data, dest, tag);
    return this.requestOf(this.done());
  }

  sendInit(mode: SendMode, data: BufferLike, dest: number, tag: number): PersistentRequest {
    this.checkSend(dest, tag);
    return new PersistentRequest(this.environment, this.owner, () => {
      if (mode !== SendMode.BUFFERED) return this.sending(data, dest, tag, mode);
      this.sendBuffered(data, dest, tag);
      return this.done();
    });
  }

  // Receiving

  /** A blocking receive into an array. `status` is filled in when given. */
  recv(buffer: TypedArray, source: number, tag: number, status: Status | undefined): Status {
    this.checkReceive(source, tag);
    const outcome = status ?? new Status();
    if (source === PROC_NULL) {
      this.checkNobody();
      outcome.source = PROC_NULL;
      outcome.tag = ANY_TAG;
      outcome.bytes = 0;
      return outcome;
    }
    const { tracer } = this;
    if (tracer !== null) tracer.begin("recv", source, tag, buffer.byteLength);
    const { buffers } = this;
    const seen = buffers.seenIn;
    buffers.see(seen, buffer);
    const room = seen.bytes;
    this.checkSize(room);
    const staged = seen.kind === SeenKind.STAGED;
    const pointer = staged ? buffers.stageIn : buffers.pointerTo(seen);
    const { operations, core } = this;
    if (operations.receiveNow(core, pointer, room, source, tag) === Now.DONE) {
      if (pointer < 0) buffers.memory.giveBack(pointer);
      outcome.source = operations.lastSource(core);
      outcome.tag = operations.lastTag;
      outcome.bytes = operations.lastBytes;
      outcome.error = operations.lastError;
    } else this.receivePosted(pointer, room, source, tag, outcome);
    // Nothing stays pending behind a call that waits.
    if (outcome.error === ErrorClass.PROC_FAILED_PENDING) outcome.error = ErrorClass.PROC_FAILED;
    if (staged) buffers.copyOut(buffer, buffers.stageIn, outcome.bytes);
    if (tracer !== null) tracer.end();
    if (outcome.error !== 0) this.owner.raise(errorOf(outcome));
    return outcome;
  }

  irecv(buffer: BufferLike, source: number, tag: number): Request {
    this.checkReceive(source, tag);
    return this.requestOf(this.receiving(buffer, source, tag));
  }

  recvInit(buffer: BufferLike, source: number, tag: number): PersistentRequest {
    this.checkReceive(source, tag);
    return new PersistentRequest(this.environment, this.owner, () => this.receiving(buffer, source, tag));
  }

  /** Receives a message that a matched probe has set aside. */
  receiveMatched(buffer: BufferLike, envelope: RecordId): Request {
    const { pointer, room, after } = this.landing(buffer);
    return this.requestOf({ record: this.operations.startMatchedReceive(pointer, room, envelope), after });
  }

  // Both

  isendrecv(data: unknown, { dest, tag: sendTag = 0 }: To, buffer: BufferLike, source: number, tag: number): Request {
    this.checkReceive(source, tag);
    this.checkSend(dest, sendTag);
    const bytes = this.packed(data);
    const length = bytes.byteLength;
    // A send that is refused must not leave the receive behind.
    this.checkSize(length);
    const received = this.receiving(buffer, source, tag);
    const sent = this.startSend(bytes, length, dest, sendTag, SendMode.STANDARD);
    return new SendrecvRequest(this.environment, this.owner, received, sent);
  }

  /** The same with one buffer for both. */
  isendrecvReplace(buffer: BufferLike, to: To, source: number, tag: number): Request {
    const packed = this.packed(buffer);
    this.checkSize(packed.byteLength);
    return this.isendrecv(asBytes(packed).slice(), to, buffer, source, tag);
  }

  // Checks

  checkReceive(source: number, tag: number): void {
    if (isUsual(this.core, source, tag)) return;
    const { owner } = this;
    try {
      checkOpen(owner, "receive");
      checkSource(owner, source);
      checkWantedTag(tag);
    } catch (error) {
      refuse(owner, error);
    }
  }

  private checkSend(dest: number, tag: number): void {
    if (isUsual(this.core, dest, tag)) return;
    const { owner } = this;
    try {
      checkOpen(owner, "send");
      checkDest(owner, dest);
      checkTag(tag);
    } catch (error) {
      refuse(owner, error);
    }
  }

  /** A message to or from PROC_NULL goes well everywhere but on a revoked communicator. */
  private checkNobody(): void {
    if (this.operations.isRevoked(this.core)) this.owner.raise(errorOf(new Status(-1, -2, 0, ErrorClass.REVOKED)));
  }

  private checkSize(bytes: number): void {
    if (bytes > messageBytesMax) guarded(this.owner, () => checkSize(bytes));
  }

  // Inside

  /** A standard send of an array: a small one needs no request. */
  private sendArray(data: TypedArray, dest: number, tag: number): void {
    if (dest === PROC_NULL) {
      this.checkNobody();
      return;
    }
    const { buffers, operations, core } = this;
    const seen = buffers.seenOut;
    buffers.see(seen, data);
    const { bytes } = seen;
    this.checkSize(bytes);
    let pointer: Pointer;
    if (seen.kind === SeenKind.STAGED) {
      buffers.copyIn(data, buffers.stageOut, bytes);
      if (operations.sendNow(core, buffers.stageOut, bytes, dest, tag)) return;
      // The message has to wait, and the stage may be needed again before it leaves.
      pointer = buffers.pointerOf(data);
    } else {
      pointer = buffers.pointerTo(seen);
      if (operations.sendNow(core, pointer, bytes, dest, tag)) {
        if (pointer < 0) buffers.memory.giveBack(pointer);
        return;
      }
    }
    const record = operations.startSend(core, pointer, bytes, dest, tag, SendMode.STANDARD);
    this.requestOf({ record, after: null }).wait();
  }

  private sendAndWait(data: unknown, dest: number, tag: number, mode: SendMode): void {
    if (dest === PROC_NULL) this.checkNobody();
    else this.requestOf(this.sending(data, dest, tag, mode)).wait();
  }

  private sendBuffered(data: unknown, dest: number, tag: number): void {
    this.checkSend(dest, tag);
    const packed = this.packed(data);
    const length = packed.byteLength;
    this.checkSize(length);
    const { buffered, operations } = this.environment;
    guarded(this.owner, () => buffered.checkRoom(operations, length));
    const copy = asBytes(packed).slice();
    buffered.hold(operations, this.startSend(copy, length, dest, tag, SendMode.BUFFERED), length, null);
  }

  private sending(data: unknown, dest: number, tag: number, mode: SendMode): Started<Status> {
    const bytes = this.packed(data);
    return { record: this.startSend(bytes, bytes.byteLength, dest, tag, mode), after: null };
  }

  private startSend(bytes: TypedArray, length: number, dest: number, tag: number, mode: SendMode): RecordId {
    this.checkSize(length);
    return this.operations.startSend(this.core, this.buffers.pointerOf(bytes), length, dest, tag, mode);
  }

  private receiving(buffer: BufferLike, source: number, tag: number): Started<Status> {
    const { pointer, room, after } = this.landing(buffer);
    return { record: this.operations.startReceive(this.core, pointer, room, source, tag), after };
  }

  /** An operation that is complete from the start. */
  private done(): Started<Status> {
    const record = this.operations.startSend(this.core, 0 as Pointer, 0, PROC_NULL, 0, SendMode.STANDARD);
    return { record, after: null };
  }

  private requestOf(started: Started<Status>): Request {
    return new Request(this.environment, this.owner, started);
  }

  /** The bytes of a message: the array itself where its elements lie side by side, a packed copy otherwise. */
  private packed(data: unknown): TypedArray {
    if (isTypedArray(data)) return data;
    if (!isTypedBuffer(data)) return guarded(this.owner, () => bytesOfObject("send the object", data));
    const items = this.normalized(data);
    const { bytes, offset, count, type } = items;
    const length = packSize(type, count);
    if (type.isContiguous(count)) return bytes.subarray(offset + type.trueLb, offset + type.trueLb + length);
    const packed = new Uint8Array(length);
    pack(items, { bytes: packed, offset: 0 });
    return packed;
  }

  private normalized(buffer: TypedBuffer): ItemsInMemory {
    return guarded(this.owner, () => normalized(buffer));
  }

  /** The place for a message, and the work that is left when the message is there. */
  private landing(buffer: BufferLike): { pointer: Pointer; room: number; after: AfterCompletion<Status> | null } {
    if (isTypedArray(buffer)) {
      const room = buffer.byteLength;
      this.checkSize(room);
      return { pointer: this.buffers.pointerOf(buffer), room, after: null };
    }
    if (!isTypedBuffer(buffer)) {
      this.owner.raise(
        new MpiError(ErrorClass.BUFFER, "Cannot receive: the buffer is no typed array, and no array with a datatype"),
      );
    }
    const items = this.normalized(buffer);
    const { bytes, offset, count, type } = items;
    const room = packSize(type, count);
    if (type.isContiguous(count)) {
      const inner = bytes.subarray(offset + type.trueLb, offset + type.trueLb + room);
      return { pointer: this.buffers.pointerOf(inner), room, after: null };
    }
    const scratch = new Uint8Array(room);
    return {
      pointer: this.buffers.pointerOf(scratch),
      room,
      after: {
        finish: (status) => {
          unpack({ bytes: scratch, offset: 0 }, items, { from: 0, bytes: status.bytes });
          return undefined;
        },
      },
    };
  }

  private receivePosted(to: Pointer, room: number, source: number, tag: number, outcome: Status): void {
    const { operations, core } = this;
    const record = operations.startReceive(core, to, room, source, tag);
    if (!operations.isComplete(record)) operations.wait(record);
    operations.readOutcome(core, record, outcome);
    operations.end(record);
  }
}
