/**
 * The buffer of buffered sends (MPI 5.0 §3.6). Messages are copied wherever there is memory; a buffer that the program
 * attaches is a bound on how many bytes may wait for their receivers at a time, nothing more.
 */
import type { RecordId } from "../core/base/brand.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { saves } from "../core/base/saved-classes.ts";
import type { Engine } from "../core/p2p/engine.ts";
import { R_FLAGS, RecordFlag } from "../core/request/records.ts";

/** What a message takes in addition to its bytes. */
export const BSEND_OVERHEAD = 64;

export class AttachedBuffer {
  /** Null: nothing is attached, and there is no bound. */
  private bytes: number | null = null;
  private held: { record: RecordId; bytes: number }[] = [];

  attach(bytes: number): void {
    if (this.bytes !== null) {
      throw new MpiError(ErrorClass.BUFFER, "Cannot attach a buffer: one is attached already; detach it first");
    }
    this.bytes = bytes;
  }

  /** The size of what was attached. The caller has waited until `isEmpty`. */
  detach(): number {
    const bytes = this.bytes ?? 0;
    this.bytes = null;
    return bytes;
  }

  isEmpty(engine: Engine): boolean {
    this.sweep(engine);
    return this.held.length === 0;
  }

  /** Throws when a message of that many bytes does not fit now. */
  check(engine: Engine, bytes: number): void {
    if (this.bytes === null) return;
    this.sweep(engine);
    const used = this.held.reduce((sum, each) => sum + each.bytes, 0);
    const free = this.bytes - used;
    if (bytes + BSEND_OVERHEAD <= free) return;
    throw new MpiError(
      ErrorClass.BUFFER,
      `Cannot buffer a message of ${bytes} bytes: it takes ${bytes + BSEND_OVERHEAD} and the attached buffer has ${free} free`,
    );
  }

  /** Takes care of a send until it is complete. */
  hold(engine: Engine, record: RecordId, bytes: number): void {
    if (this.bytes === null || engine.isComplete(record)) {
      engine.abandon(record);
      return;
    }
    engine.records.put(record, R_FLAGS, engine.records.get(record, R_FLAGS) | RecordFlag.UNWANTED);
    this.held.push({ record, bytes: bytes + BSEND_OVERHEAD });
  }

  private sweep(engine: Engine): void {
    this.held = this.held.filter(({ record }) => {
      if (!engine.isComplete(record)) return true;
      engine.giveBack(record);
      return false;
    });
  }
}

saves({ AttachedBuffer });
