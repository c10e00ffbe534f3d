/** Frames that one channel memory has for a rank, whole ones, in order. */
import { lives } from "../../../base/saved-classes.ts";
import type { ClientEnd } from "../../../service-channel/channel.ts";
import { WordFrameReader } from "../frames.ts";

const wordsAtOnce = 1 << 12;

export class Inbox {
  static readonly unsaved = { end: null, reader: null, stage: null, origin: 0 };
  private readonly end: ClientEnd;
  private readonly reader = new WordFrameReader();
  private readonly stage = new Int32Array(wordsAtOnce);
  /** The process of the memory that spoke last. */
  private origin = 0;

  constructor(end: ClientEnd) {
    this.end = end;
  }

  /** Gives each frame to `take`, which says whether there is room for it. True: some frame was taken. */
  read(take: (frame: Int32Array) => boolean): boolean {
    let moved = false;
    for (;;) {
      const frame = this.reader.peek();
      if (frame !== null) {
        if (!take(frame)) return moved;
        this.reader.drop();
        moved = true;
      } else if (!this.feed()) return moved;
    }
  }

  private feed(): boolean {
    const count = this.end.take(this.stage);
    if (count === 0) return false;
    // A frame of which a part had come is never completed by another process.
    if (this.end.origin !== this.origin) this.reader.reset();
    this.origin = this.end.origin;
    this.reader.feed(this.stage, 0, count);
    return true;
  }
}

lives({ Inbox });
