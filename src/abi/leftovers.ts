/** Requests that go on without the program: freed before they were complete, or buffered sends. */
import type { Pointer, RecordId } from "../core/base/brand.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { lives, saves } from "../core/base/saved-classes.ts";
import type { Process } from "../core/process/process.ts";
import { Task } from "../core/process/task.ts";
import { R_ERROR, R_FLAGS, R_STATUS_BYTES, RecordFlag } from "../core/request/records.ts";
import { Release } from "./buffers.ts";
import type { After, CRequest } from "./objects.ts";
import type { Program } from "./program.ts";

/** Ends a request when it is complete. */
class FinishLater extends Task {
  private readonly program: Program;
  private readonly record: RecordId;
  private readonly after: After;

  constructor(program: Program, record: RecordId, after: After) {
    super();
    this.program = program;
    this.record = record;
    this.after = after;
  }

  override advance({ engine }: Process): boolean {
    const { records } = engine;
    if (!engine.isComplete(this.record)) {
      records.put(this.record, R_FLAGS, records.get(this.record, R_FLAGS) | RecordFlag.UNWANTED);
      return false;
    }
    const bytes = records.get(this.record, R_STATUS_BYTES);
    const error = records.get(this.record, R_ERROR);
    engine.giveBack(this.record);
    this.after.finish(this.program, bytes, error);
    return true;
  }
}

function leave(program: Program, record: RecordId, after: After | null): void {
  const { engine, process } = program;
  engine.abandon(after === null ? record : process.start(new FinishLater(program, record, after)));
}

/** The program does not want the outcome; what was to be received is received all the same. */
export function forget(program: Program, { record, after }: CRequest): void {
  leave(program, record, after);
}

/** What a message takes of an attached buffer in addition to its bytes: the ABI's MPI_BSEND_OVERHEAD. */
const overheadBytes = 512;
/** The ABI's MPI_BUFFER_AUTOMATIC. */
const automatic = 2;

/**
 * Buffered sends (MPI 5.0 §3.6). Messages are copied wherever there is memory; a buffer that the program attaches is a bound
 * on how many bytes may wait for their receivers at a time, nothing more. With MPI_BUFFER_AUTOMATIC there is no bound.
 */
export class BufferedSends {
  private readonly program: Program;
  private attached: { readonly address: number; readonly bytes: number } | null = null;
  private used = 0;
  /** Numbers of the messages that have not left, oldest first. */
  private readonly waiting: number[] = [];
  private next = 0;

  constructor(program: Program) {
    this.program = program;
  }

  attach(address: number, bytes: number): void {
    if (this.attached !== null) {
      throw new MpiError(ErrorClass.BUFFER, "Cannot attach a buffer: one is attached already; detach it first");
    }
    this.attached = { address, bytes };
  }

  /** The caller has waited until `isEmpty`. */
  detach(): { readonly address: number; readonly bytes: number } {
    const attached = this.attached ?? { address: 0, bytes: 0 };
    this.attached = null;
    return attached;
  }

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  /** A task that is over when every message has left that is there now (MPI_Buffer_iflush). */
  flush(): Task {
    return new Flush(this, this.next);
  }

  /** Have all messages left whose numbers are smaller? */
  hasLeft(number: number): boolean {
    return this.isEmpty || this.waiting[0]! >= number;
  }

  private get freeBytes(): number {
    const { attached } = this;
    return attached === null || attached.address === automatic ? Number.POSITIVE_INFINITY : attached.bytes - this.used;
  }

  /** Starts a send of a copy that is ours, unless it does not fit. */
  hold(pointer: Pointer, bytes: number, start: () => RecordId): void {
    // Messages may have been received of which we have not heard yet.
    while (bytes + overheadBytes > this.freeBytes && this.program.process.progress());
    const free = this.freeBytes;
    if (bytes + overheadBytes > free) {
      this.program.memory.free(pointer);
      throw new MpiError(
        ErrorClass.BUFFER,
        `Cannot buffer a message of ${bytes} bytes: it takes ${bytes + overheadBytes} and the attached buffer has ${free} free`,
      );
    }
    this.used += bytes + overheadBytes;
    const number = this.next++;
    this.waiting.push(number);
    leave(this.program, start(), new Release(pointer, new Drained(number, bytes)));
  }

  /** A message of that length has left its buffer. */
  drained(number: number, bytes: number): void {
    this.used -= bytes + overheadBytes;
    this.waiting.splice(this.waiting.indexOf(number), 1);
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

class Drained implements After {
  private readonly number: number;
  private readonly bytes: number;

  constructor(number: number, bytes: number) {
    this.number = number;
    this.bytes = bytes;
  }

  finish({ buffered }: Program): void {
    buffered.drained(this.number, this.bytes);
  }
}

lives({ BufferedSends });

saves({ FinishLater, Flush, Drained });
