/**
 * Requests that go on without the program: it freed them before they were complete, or never saw them. What is to be done at
 * their end (unpack a message, free scratch memory) is done all the same.
 */
import type { RecordId } from "../base/brand.ts";
import { saves } from "../base/saved-classes.ts";
import type { Process } from "../process/process.ts";
import { Task } from "../process/task.ts";
import { R_ERROR, R_STATUS_BYTES, RecordFlag } from "../request/records.ts";

/** What is left to do when a request is complete. Plain data where a program can be captured. */
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
      // Nobody is told its outcome: a rank may end before it is complete.
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
