/**
 * Output of ranks that several processes play. Each of them prints all of the rank's lines, and the first offer of a line counts (line-merge.ts). Where
 * they print different bytes, such as times, two processes must not share a line: so the unfinished line of each is held here until its end comes, and is
 * offered as a whole; or as it is, when it shall be seen at once, has become too long, or all is over.
 *
 * A process that comes back goes on where the image was taken of another one, perhaps inside a line: the beginning is what the other one had.
 */
import { countLines } from "../../core/service/line-places.ts";
import type { LineChunk, Stream } from "../messages/lines.ts";

/** The process that has printed something, and the rank that it plays. */
export interface Player {
  readonly process: number;
  readonly rank: number;
}

/** The unfinished line of a stream of a process. */
interface Held {
  readonly rank: number;
  readonly stream: Stream;
  /** The place of its first byte that was not offered yet. */
  number: number;
  offset: number;
  pieces: Uint8Array[];
  bytes: number;
}

/** A line that is longer is offered in pieces. */
const lineBytesMax = 1 << 20;
const newline = 10;

export class WholeLines {
  readonly #held = new Map<string, Held>();

  /** What may be offered now; null: nothing. */
  take({ process, rank }: Player, chunk: LineChunk): LineChunk | null {
    const { stream, bytes, flush } = chunk;
    const held = this.#heldOf(`${stream} ${process}`, rank, chunk);
    const end = bytes.lastIndexOf(newline) + 1;
    const isUrgent = flush || held.bytes + bytes.length > lineBytesMax;
    const count = isUrgent ? bytes.length : end;
    add(held, bytes.subarray(0, count));
    const offered = count === 0 && !isUrgent ? null : release(held, flush);
    add(held, bytes.subarray(count));
    return offered;
  }

  /** Nothing more comes. Of the processes that play a rank the one that has come furthest is first. */
  finish(): { readonly rank: number; readonly chunk: LineChunk }[] {
    const all = [...this.#held.values()].filter(({ bytes }) => bytes > 0);
    this.#held.clear();
    all.sort((one, other) => other.number - one.number || other.offset + other.bytes - (one.offset + one.bytes));
    return all.map((held) => ({ rank: held.rank, chunk: release(held, false) }));
  }

  #heldOf(key: string, rank: number, chunk: LineChunk): Held {
    const known = this.#held.get(key);
    if (known !== undefined && goesOn(known, chunk)) return known;
    const { stream, number, offset } = chunk;
    const held = this.#begun(rank, chunk) ?? { rank, stream, number, offset, pieces: [], bytes: 0 };
    this.#held.set(key, held);
    return held;
  }

  /** A line whose beginning another process of the rank has printed. */
  #begun(rank: number, { stream, number, offset }: LineChunk): Held | null {
    if (offset === 0) return null;
    for (const other of this.#held.values()) {
      const isIt = other.rank === rank && other.stream === stream && other.number === number;
      if (!isIt || other.offset > offset || other.offset + other.bytes < offset) continue;
      const held = { rank, stream, number, offset: other.offset, pieces: [], bytes: 0 };
      add(held, Buffer.concat(other.pieces).subarray(0, offset - other.offset));
      return held;
    }
    return null;
  }
}

const goesOn = (held: Held, { number, offset }: LineChunk): boolean =>
  held.number === number && held.offset + held.bytes === offset;

function add(held: Held, bytes: Uint8Array): void {
  if (bytes.length === 0) return;
  held.pieces.push(bytes);
  held.bytes += bytes.length;
}

/** All that is held; the next byte follows. */
function release(held: Held, flush: boolean): LineChunk {
  const { stream, number, offset } = held;
  const bytes = Buffer.concat(held.pieces, held.bytes);
  const lines = countLines(bytes);
  held.offset = lines === 0 ? offset + bytes.length : bytes.length - (bytes.lastIndexOf(newline) + 1);
  held.number += lines;
  held.pieces = [];
  held.bytes = 0;
  return { stream, number, offset, bytes, flush };
}
