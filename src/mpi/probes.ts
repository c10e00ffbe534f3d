/** Probes, and receives of the messages that they find (MPI 5.0 §3.8), as a part of a communicator. */
import type { RecordId } from "../core/base/brand.ts";
import { ANY_SOURCE, ANY_TAG, PROC_NULL } from "../core/base/constants.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { probeFailure } from "../core/binding/checks.ts";
import { messageChoice, messageOf } from "../core/binding/choices.ts";
import type { Operations } from "../core/binding/operations.ts";
import type { BufferLike } from "./buffers.ts";
import { chooseLater, chooseNow } from "./choices.ts";
import type { Environment } from "./environment.ts";
import { objectOfBytes } from "./objects.ts";
import { guarded, type Owner } from "./owner.ts";
import type { From, PointToPoint } from "./point-to-point.ts";
import type { Request } from "./request.ts";
import { Status } from "./status.ts";

const none = -1 as RecordId;

export class Probes {
  private readonly operations: Operations;
  private readonly owner: Owner;
  private readonly messages: PointToPoint;

  constructor({ operations }: Environment, owner: Owner, messages: PointToPoint) {
    this.operations = operations;
    this.owner = owner;
    this.messages = messages;
  }

  probe(source: number, tag: number): Status {
    this.messages.checkReceive(source, tag);
    return source === PROC_NULL ? ofNobody() : this.statusOf(this.findLater(source, tag));
  }

  iprobe(source: number, tag: number): Status | null {
    this.messages.checkReceive(source, tag);
    if (source === PROC_NULL) return ofNobody();
    const envelope = this.findNow(source, tag);
    return envelope < 0 ? null : this.statusOf(envelope);
  }

  mprobe(source: number, tag: number): Message {
    this.messages.checkReceive(source, tag);
    return source === PROC_NULL ? this.messageOfNobody() : this.setAside(this.findLater(source, tag));
  }

  improbe(source: number, tag: number): Message | null {
    this.messages.checkReceive(source, tag);
    if (source === PROC_NULL) return this.messageOfNobody();
    const envelope = this.findNow(source, tag);
    return envelope < 0 ? null : this.setAside(envelope);
  }

  /** Receives an object, whose length a matched probe tells. */
  recvObject({ source = ANY_SOURCE, tag = ANY_TAG, status: told }: From): unknown {
    const message = this.mprobe(source, tag);
    const bytes = new Uint8Array(message.status.bytes);
    const status = message.recv(bytes);
    if (told !== undefined) Object.assign(told, status);
    if (status.source === PROC_NULL) return undefined;
    const object = objectOfBytes(bytes);
    if (object !== undefined) return object.value;
    return this.owner.raise(
      new MpiError(
        ErrorClass.TYPE,
        `Cannot read an object from rank ${status.source} with tag ${status.tag}: the message is ${status.bytes} plain bytes; receive it into a typed array`,
      ),
    );
  }

  /** The oldest message that such a receive would take; −1: none is there. */
  private findNow(source: number, tag: number): RecordId {
    const { operations, owner } = this;
    const { choices } = operations;
    if (choices === null) {
      operations.look();
      return this.find(source, tag);
    }
    const choice = messageChoice(operations, { comm: owner, source, tag });
    return messageOf(
      operations,
      guarded(owner, () => chooseNow(operations, choices, choice)),
    );
  }

  private findLater(source: number, tag: number): RecordId {
    const { operations, owner } = this;
    const { choices } = operations;
    if (choices !== null && source === ANY_SOURCE) {
      const choice = messageChoice(operations, { comm: owner, source, tag });
      return messageOf(
        operations,
        guarded(owner, () => chooseLater(operations, choices, choice)),
      );
    }
    let envelope = none;
    operations.waitUntil(() => {
      envelope = this.find(source, tag);
      return envelope >= 0;
    });
    return envelope;
  }

  /** Raises the error when no message can come any more. */
  private find(source: number, tag: number): RecordId {
    const { operations, owner } = this;
    const envelope = operations.probe(owner.core, source, tag);
    const failure = envelope < 0 ? probeFailure(operations, owner, source) : null;
    return failure === null ? envelope : owner.raise(failure);
  }

  private setAside(envelope: RecordId): Message {
    this.operations.setAside(envelope);
    const status = this.statusOf(envelope);
    return new Message(this.owner, status, (buffer) => this.messages.receiveMatched(buffer, envelope));
  }

  private messageOfNobody(): Message {
    return new Message(this.owner, ofNobody(), (buffer) => this.messages.irecv(buffer, PROC_NULL, ANY_TAG));
  }

  private statusOf(envelope: RecordId): Status {
    const status = new Status();
    this.operations.readEnvelope(this.owner.core, envelope, status);
    return status;
  }
}

const ofNobody = (): Status => new Status(PROC_NULL, ANY_TAG, 0);

/** A message set aside by `mprobe`: only this object can receive it (MPI 5.0 §3.8.2). */
export class Message {
  readonly status: Status;
  readonly #owner: Owner;
  readonly #receive: (buffer: BufferLike) => Request;
  #taken = false;

  constructor(owner: Owner, status: Status, receive: (buffer: BufferLike) => Request) {
    this.#owner = owner;
    this.status = status;
    this.#receive = receive;
  }

  recv(buffer: BufferLike): Status {
    return this.irecv(buffer).wait();
  }

  irecv(buffer: BufferLike): Request {
    if (this.#taken) {
      this.#owner.raise(new MpiError(ErrorClass.REQUEST, "Cannot receive the message: it has been received already"));
    }
    this.#taken = true;
    return this.#receive(buffer);
  }
}
