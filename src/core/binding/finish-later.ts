/**
 * Requests that go on without the program, which freed them before they were complete or never saw them. The work at their end
 * (unpacking a message, freeing scratch memory) is done all the same.
 */
import type { RecordId } from "../base/brand.ts";
import { saves } from "../base/saved-classes.ts";
import type { Process } from "../process/process.ts";
import { Task } from "../process/task.ts";
import { R_ERROR, R_STATUS_BYTES, RecordFlag } from "../request/records.ts";

/** The work that is left when a request is complete. Plain data where a program can be captured. */
export interface Leftover {
  /** Called once, also after an error. `bytes`: length of the message that was received. */
  finish(bytes: number, error: number): void;
}

export class FinishLater extends Task {
  private readonly record: RecordId;
  private readonly leftover: Leftover;

  constructor(record: RecordId, leftover: Leftover) {
    super();
    this.record = record;
    this.leftover = leftover;
  }

  override advance({ engine }: Process): boolean {
    const { records } = engine;
    if (!engine.isComplete(this.record)) {
      // The program does not learn the outcome: a rank may end before the request is complete.
      records.addFlag(this.record, RecordFlag.UNWANTED);
      return false;
    }
    const bytes = records.get(this.record, R_STATUS_BYTES);
    const error = records.get(this.record, R_ERROR);
    engine.giveBack(this.record);
    this.leftover.finish(bytes, error);
    return true;
  }
}

saves({ FinishLater });
