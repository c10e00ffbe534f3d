/** A doubly linked list of records, in the links that queues use: a record stands in one queue or list at a time. */
import type { RecordId } from "../base/brand.ts";
import { lives } from "../base/saved-classes.ts";
import { R_NEXT, R_PREVIOUS, type Records, recordWords } from "../request/records.ts";

const none = -1 as RecordId;

export class RecordList {
  private readonly records: Records;
  first: RecordId = none;
  private last: RecordId = none;
  count = 0;

  constructor(records: Records) {
    this.records = records;
  }

  append(record: RecordId): void {
    const words = this.records.words;
    words[record * recordWords + R_NEXT] = none;
    words[record * recordWords + R_PREVIOUS] = this.last;
    if (this.last < 0) this.first = record;
    else words[this.last * recordWords + R_NEXT] = record;
    this.last = record;
    this.count++;
  }

  remove(record: RecordId): void {
    const words = this.records.words;
    const next = words[record * recordWords + R_NEXT]! as RecordId;
    const previous = words[record * recordWords + R_PREVIOUS]! as RecordId;
    if (previous < 0) this.first = next;
    else words[previous * recordWords + R_NEXT] = next;
    if (next < 0) this.last = previous;
    else words[next * recordWords + R_PREVIOUS] = previous;
    this.count--;
  }

  /** All records, oldest first. A record may be removed while it is visited. */
  forEach(visit: (record: RecordId) => void): void {
    for (let record = this.first; record >= 0; ) {
      const next = this.after(record);
      visit(record);
      record = next;
    }
  }

  removeIf(isUnwanted: (record: RecordId) => boolean): void {
    this.forEach((record) => {
      if (isUnwanted(record)) this.remove(record);
    });
  }

  after(record: RecordId): RecordId {
    return this.records.words[record * recordWords + R_NEXT]! as RecordId;
  }
}

lives({ RecordList });
