/**
 * Buffered sends (MPI 5.0 §3.6), as plain data: an image holds them. Messages are copied wherever there is memory; a buffer that the program attaches is a bound
 * on how many bytes may wait for their receivers at a time, nothing more.
 */
import type { RecordId } from "../base/brand.ts";
import { ErrorClass, MpiError } from "../base/mpi-error.ts";
import { saves } from "../base/saved-classes.ts";
import { Task } from "../process/task.ts";
import type { Leftover } from "./finish-later.ts";
import type { Operations } from "./operations.ts";

/** The bytes that a message takes of an attached buffer in addition to its own: the ABI's MPI_BSEND_OVERHEAD. */
export const BSEND_OVERHEAD = 512;

interface AttachedBuffer {
  /** How many bytes may wait; infinitely many: MPI_BUFFER_AUTOMATIC. */
  readonly bytes: number;
  /** The address of the buffer in a C program. */
  readonly address?: number;
}

export class BufferedSends {
  /** Null: nothing is attached, and there is no bound. */
  private attached: AttachedBuffer | null = null;
  /** Bytes of the attached buffer, or of those before it, that messages take. */
  private used = 0;
  /** Numbers of the messages that have not left, oldest first. */
  private readonly waiting: number[] = [];
  private next = 0;

  attach(buffer: AttachedBuffer): void {
    if (this.attached !== null) {
      throw new MpiError(ErrorClass.BUFFER, "Cannot attach a buffer: one is attached already; detach it first");
    }
    this.attached = buffer;
  }

  /** Gives the buffer that was attached, or null. The caller has waited until `isEmpty`. */
  detach(): AttachedBuffer | null {
    const { attached } = this;
    this.attached = null;
    return attached;
  }

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  /** A task that is over when every message has left that is there now: MPI_Buffer_iflush. */
  flush(): Task {
    return new Flush(this, this.next);
  }

  /** Have all messages left whose numbers are smaller? */
  hasLeft(number: number): boolean {
    return this.isEmpty || this.waiting[0]! >= number;
  }

  /** Throws when a message of that many bytes does not fit now. */
  checkRoom(operations: Operations, bytes: number): void {
    // Messages may have been received of which this process has not heard yet.
    while (bytes + BSEND_OVERHEAD > this.freeBytes && operations.progress());
    const free = this.freeBytes;
    if (bytes + BSEND_OVERHEAD <= free) return;
    const wanted = `it takes ${bytes + BSEND_OVERHEAD} and the attached buffer has ${free} free`;
    throw new MpiError(ErrorClass.BUFFER, `Cannot buffer a message of ${bytes} bytes: ${wanted}`);
  }

  /** Takes care of a send of so many bytes, which fits; `leftover` is done when the message has left. */
  hold(operations: Operations, request: RecordId, bytes: number, leftover: Leftover | null): void {
    // Without a bound and without a leftover, no part of the program waits for such a message.
    if (this.attached === null && leftover === null) {
      operations.abandon(request);
      return;
    }
    const number = this.next++;
    this.used += bytes + BSEND_OVERHEAD;
    this.waiting.push(number);
    operations.finishLater(request, new Drained(this, number, bytes, leftover));
  }

  /** A message has left. */
  drained(number: number, bytes: number): void {
    this.used -= bytes + BSEND_OVERHEAD;
    this.waiting.splice(this.waiting.indexOf(number), 1);
  }

  private get freeBytes(): number {
    return this.attached === null ? Number.POSITIVE_INFINITY : this.attached.bytes - this.used;
  }
}

class Drained implements Leftover {
  private readonly buffered: BufferedSends;
  private readonly number: number;
  private readonly bytes: number;
  private readonly next: Leftover | null;

  constructor(buffered: BufferedSends, number: number, bytes: number, next: Leftover | null) {
    this.buffered = buffered;
    this.number = number;
    this.bytes = bytes;
    this.next = next;
  }

  finish(bytes: number, error: number): void {
    this.next?.finish(bytes, error);
    this.buffered.drained(this.number, this.bytes);
  }
}

class Flush extends Task {
  private readonly buffered: BufferedSends;
  private readonly before: number;

  constructor(buffered: BufferedSends, before: number) {
    super();
    this.buffered = buffered;
    this.before = before;
  }

  override advance(): boolean {
    return this.buffered.hasLeft(this.before);
  }
}

saves({ BufferedSends, Drained, Flush });
