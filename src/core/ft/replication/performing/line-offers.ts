/**
 * One stream of a rank's output in one of its replicas. All replicas print; one, the performer, offers its lines to the dispatcher, which takes
 * every byte of a stream once, by its place (`core/service/line-numbers.ts`). The others keep theirs until the dispatcher has them: when
 * the performer dies its successor offers what it keeps, and whatever had left before is dropped by its place.
 *
 * So that two replicas never share a line, only whole lines are offered, unless the program asked for the unfinished one to be seen
 * (`flush`), or the line is longer than may be kept.
 *
 * Bounded: `keptBytesMax` bytes that the dispatcher has not confirmed. Full means that the program waits inside its call.
 */
import { assert } from "../../../base/assert.ts";
import { lives } from "../../../base/saved-classes.ts";

/** Line and byte in it, both from 0. */
interface OutputPlace {
  readonly line: number;
  readonly offset: number;
}

/** Bytes of a stream that begin at a place. */
export interface OutputPiece extends OutputPlace {
  readonly bytes: Uint8Array;
}

const newline = 10;

export class LineOffers {
  private readonly keptBytesMax: number;
  private isPerformer: boolean;
  /** What the dispatcher has not confirmed, in order. */
  private kept: OutputPiece[] = [];
  private keptBytes = 0;
  /** The first bytes of `kept` that have been offered by this process. */
  private offeredBytes = 0;
  /** The first bytes of it that may be: whole lines, or flushed. */
  private offerableBytes = 0;
  /** Where the next byte goes. */
  private line = 0;
  private offset = 0;
  /** For the host to carry to the dispatcher. */
  readonly outbox: OutputPiece[] = [];

  constructor(isPerformer: boolean, keptBytesMax: number) {
    this.isPerformer = isPerformer;
    this.keptBytesMax = keptBytesMax;
  }

  /** How many of these bytes were taken: fewer than all when there is no room. */
  print(bytes: Uint8Array): number {
    const taken = bytes.slice(0, this.keptBytesMax - this.keptBytes);
    if (taken.length === 0) return 0;
    this.kept.push({ line: this.line, offset: this.offset, bytes: taken });
    const before = this.keptBytes;
    this.keptBytes += taken.length;
    const end = taken.lastIndexOf(newline) + 1;
    if (end > 0) this.offerableBytes = before + end;
    // A line that is longer than all that may be kept would wait for its end for ever.
    else if (this.keptBytes === this.keptBytesMax && this.offerableBytes === 0) this.offerableBytes = this.keptBytes;
    this.passOver(taken);
    this.offer();
    return taken.length;
  }

  /** The unfinished line shall be seen. */
  flush(): void {
    this.offerableBytes = this.keptBytes;
    this.offer();
  }

  /** The program is over: what is left is offered as it is. */
  finish(): void {
    this.flush();
  }

  /** Has the dispatcher all that the program printed? Until then the process must not leave. */
  get isConfirmed(): boolean {
    return this.keptBytes === 0;
  }

  /** This process performs from now on. */
  perform(): void {
    if (this.isPerformer) return;
    this.isPerformer = true;
    this.offeredBytes = 0;
    this.offer();
  }

  /** The dispatcher has all that comes before that place. */
  confirmed(place: OutputPlace): void {
    for (let first = this.kept[0]; first !== undefined; first = this.kept[0]) {
      const count = bytesBefore(first, place);
      if (count === 0) return;
      this.drop(count);
      if (count < first.bytes.length) this.kept[0] = behind(first, count);
      else this.kept.shift();
    }
  }

  private drop(count: number): void {
    this.keptBytes -= count;
    this.offeredBytes = Math.max(0, this.offeredBytes - count);
    this.offerableBytes = Math.max(0, this.offerableBytes - count);
  }

  private offer(): void {
    if (!this.isPerformer) return;
    let before = 0;
    for (const piece of this.kept) {
      const from = Math.max(0, this.offeredBytes - before);
      const to = Math.min(piece.bytes.length, this.offerableBytes - before);
      if (from < to) {
        const { line, offset, bytes } = behind(piece, from);
        this.outbox.push({ line, offset, bytes: bytes.subarray(0, to - from) });
      }
      before += piece.bytes.length;
    }
    this.offeredBytes = Math.max(this.offeredBytes, this.offerableBytes);
  }

  private passOver(bytes: Uint8Array): void {
    const next = placeBehind({ line: this.line, offset: this.offset }, bytes);
    this.line = next.line;
    this.offset = next.offset;
  }
}

function placeBehind({ line, offset }: OutputPlace, bytes: Uint8Array): OutputPlace {
  let next = line;
  let start = 0;
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, start)) {
    next++;
    start = at + 1;
  }
  return { line: next, offset: start === 0 ? offset + bytes.length : bytes.length - start };
}

function behind(piece: OutputPiece, count: number): OutputPiece {
  assert(count <= piece.bytes.length, "a piece has these bytes");
  return { ...placeBehind(piece, piece.bytes.subarray(0, count)), bytes: piece.bytes.subarray(count) };
}

/** How many bytes of a piece come before a place. A line of another replica may be shorter than the same line here: all of it counts. */
function bytesBefore(piece: OutputPiece, place: OutputPlace): number {
  let { line, offset } = piece;
  let at = 0;
  while (at < piece.bytes.length) {
    const end = piece.bytes.indexOf(newline, at);
    const isWhole = end >= 0;
    if (line < place.line) {
      if (!isWhole) return piece.bytes.length;
      at = end + 1;
      line++;
      offset = 0;
      continue;
    }
    if (line > place.line) return at;
    return at + Math.max(0, Math.min(place.offset - offset, (isWhole ? end : piece.bytes.length) - at));
  }
  return at;
}

lives({ LineOffers });
