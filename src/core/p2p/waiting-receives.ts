/**
 * Receives that stand still until a protocol knows which message each takes (`Pin.LATER`). They stand in no queue, but they keep their place in the
 * order of posting: a message that one of them could take is for no receive behind it, as long as that is not known.
 */
import type { RecordId } from "../base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../base/constants.ts";
import { lives } from "../base/saved-classes.ts";
import { R_CONTEXT, R_ORDER, R_PEER, R_TAG, type Records, recordWords } from "../request/records.ts";

export class WaitingReceives {
  private readonly records: Records;
  /** Oldest first. */
  private receives: RecordId[] = [];

  constructor(records: Records) {
    this.records = records;
  }

  get count(): number {
    return this.receives.length;
  }

  add(receive: RecordId): void {
    this.receives.push(receive);
  }

  /** False: it is none of them. */
  remove(receive: RecordId): boolean {
    const place = this.receives.indexOf(receive);
    if (place >= 0) this.receives.splice(place, 1);
    return place >= 0;
  }

  /** All of them, which stand still no longer. */
  takeAll(): RecordId[] {
    const { receives } = this;
    this.receives = [];
    return receives;
  }

  /** May that message be for one of them that was posted before `receive`? −1: for any of them? */
  mayTake(context: number, source: number, tag: number, receive: RecordId): boolean {
    return this.receives.some((waiting) => {
      const { words } = this.records;
      const at = waiting * recordWords;
      if (words[at + R_CONTEXT] !== context) return false;
      if (words[at + R_PEER] !== ANY_SOURCE && words[at + R_PEER] !== source) return false;
      if (words[at + R_TAG] === ANY_TAG ? tag < 0 : words[at + R_TAG] !== tag) return false;
      return receive < 0 || this.isBefore(waiting, receive);
    });
  }

  /** Orders wrap; their difference does not. */
  isBefore(one: RecordId, other: RecordId): boolean {
    return ((this.records.get(one, R_ORDER) - this.records.get(other, R_ORDER)) | 0) < 0;
  }
}

lives({ WaitingReceives });
