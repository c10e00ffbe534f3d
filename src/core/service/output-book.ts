/**
 * What a job has printed, as far as a successor must know it: which bytes have come from the ranks, and which of them have left the job.
 * Bytes that have come are kept until they have left, so that nothing is lost that ranks, and images of them, count as printed (rule 3).
 *
 * The book changes by records only. Between "leaves" and "left" nobody knows whether the bytes are outside. Where they go to a file, its
 * size says so: the record has the size before, and bytes go to a file at once, one piece after the other.
 */
import { type LinePlace, passOver } from "./line-places.ts";

type OutputStream = "stdout" | "stderr";

interface AtPlace extends Readonly<LinePlace> {
  readonly rank: number;
  readonly stream: OutputStream;
}

/** The file that bytes go to, and how large it was before. */
export interface FileBefore {
  readonly id: string;
  readonly size: number;
}

/** These bytes of a rank have come, from that place on. */
interface LinesCame extends AtPlace {
  readonly kind: "came";
  readonly bytes: Uint8Array;
  /** The rank wants an unfinished line to be seen. */
  readonly flush: boolean;
}
/** All before that place is outside, or will be in a moment: the last bytes of it, so many with labels, are being written to a file. */
export interface LinesLeave extends AtPlace {
  readonly kind: "leaves";
  readonly bytes: number;
  readonly file: FileBefore;
}
/** All before that place is outside. */
interface LinesLeft extends AtPlace {
  readonly kind: "left";
}
export type OutputRecord = LinesCame | LinesLeave | LinesLeft;

interface Source {
  left: LinePlace;
  /** Behind the last byte that has come. */
  came: LinePlace;
  waiting: LinesCame[];
}

export class OutputBook {
  readonly #sources = new Map<string, Source>();
  #underWay: LinesLeave | null = null;

  apply(record: OutputRecord): void {
    const source = this.#sourceOf(record);
    switch (record.kind) {
      case "came":
        source.waiting.push(record);
        source.came = endOf(record);
        break;
      case "leaves":
        // The bytes before are in the file.
        if (this.#underWay?.file.id === record.file.id) this.#left(this.#underWay);
        this.#underWay = record;
        break;
      case "left":
        this.#left(record);
        break;
    }
  }

  /** The place before which all of that stream is outside. */
  leftOf(rank: number, stream: OutputStream): LinePlace {
    return { ...this.#sourceOf({ rank, stream }).left };
  }

  /** Have bytes at that place come already? */
  hasCome({ rank, stream, line, offset }: AtPlace): boolean {
    return isBefore({ line, offset }, this.#sourceOf({ rank, stream }).came);
  }

  /**
   * Bytes that are not outside, in pieces as they came; the first piece of a stream may begin with some that are. Those that may be outside
   * come first.
   */
  get waiting(): LinesCame[] {
    const first = this.#underWay === null ? null : this.#sourceOf(this.#underWay);
    const others = [...this.#sources.values()].filter((source) => source !== first);
    return [...(first === null ? [] : [first]), ...others].flatMap(({ waiting }) => waiting);
  }

  /** A job goes on that writes this stream to that file. How many bytes of those that may be outside are. */
  bytesThere(stream: OutputStream, file: FileBefore | null): number {
    const under = this.#underWay;
    if (under === null || under.stream !== stream || under.file.id !== file?.id) return 0;
    const there = Math.max(0, file.size - under.file.size);
    if (there < under.bytes) return there;
    this.#left(under);
    return 0;
  }

  /** Records that give a book like this one. */
  *records(): Generator<OutputRecord> {
    for (const [key, { left, waiting }] of this.#sources) {
      const [stream, rank] = key.split(" ") as [OutputStream, string];
      yield { kind: "left", rank: Number(rank), stream, ...left };
      yield* waiting;
    }
    if (this.#underWay !== null) yield this.#underWay;
  }

  #left(record: AtPlace): void {
    const { rank, stream, line, offset } = record;
    const source = this.#sourceOf(record);
    const place = { line, offset };
    if (isBefore(source.left, place)) source.left = place;
    if (isBefore(source.came, place)) source.came = { ...place };
    source.waiting = source.waiting.filter((piece) => isBefore(source.left, endOf(piece)));
    const under = this.#underWay;
    if (under?.rank === rank && under.stream === stream && !isBefore(place, under)) this.#underWay = null;
  }

  #sourceOf({ rank, stream }: Pick<AtPlace, "rank" | "stream">): Source {
    const key = `${stream} ${rank}`;
    let source = this.#sources.get(key);
    if (source === undefined) {
      source = { left: { line: 0, offset: 0 }, came: { line: 0, offset: 0 }, waiting: [] };
      this.#sources.set(key, source);
    }
    return source;
  }
}

function endOf({ line, offset, bytes }: LinesCame): LinePlace {
  const end = { line, offset };
  passOver(end, bytes);
  return end;
}

const isBefore = (one: Readonly<LinePlace>, other: Readonly<LinePlace>): boolean =>
  one.line < other.line || (one.line === other.line && one.offset < other.offset);
