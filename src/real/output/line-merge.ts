/**
 * The output of all ranks on its way out: puts the chunks of each stream together into whole lines, drops lines that were
 * there before, and hands them on. An unfinished line is held until its end comes, its rank ends, it is flushed, or it
 * has become too long to hold; on a terminal for a moment only, unless another one's unfinished line stands there.
 */
import { LineNumbers } from "../../core/service/line-numbers.ts";
import { countLines, type LinePlace, passOver } from "../../core/service/line-places.ts";
import type { LineChunk, Stream } from "../messages/lines.ts";

/** The printer of a line: a rank, or the process of a node itself, past its ranks. */
export type Printer =
  | { readonly kind: "rank"; readonly rank: number }
  | { readonly kind: "node"; readonly node: number };

/** Consecutive lines of one printer's stream. */
export interface Lines {
  readonly printer: Printer;
  readonly stream: Stream;
  /** Number of the first of them. */
  readonly number: number;
  /** False: the start of the first line was in an earlier piece. */
  readonly startsLine: boolean;
  /** Whole lines with their ends; the last one may lack it. */
  readonly bytes: Buffer;
}

/** Where lines go. `done` is called when they have left, or can never; until then they count as under way. */
export type LineSink = (lines: Lines, done: () => void) => void;

/** Where people watch. */
export interface Watched {
  /** May an unfinished line of that printer be shown now? */
  mayShow(printer: Printer, stream: Stream): boolean;
  /** Does that in a moment: the rest of the line may be under way. */
  soon(act: () => void): void;
}

/** Writes down what ranks print, for a job that goes on with it another time. */
export interface LineKeeper {
  /** All of that stream before that place has left. */
  startOf(rank: number, stream: Stream): LinePlace;
  /** Bytes that are new: their rank may be told that they have come when this returns. */
  came(rank: number, chunk: LineChunk): void;
  /** All before that place is handed to the sink now. */
  leaves(rank: number, stream: Stream, place: LinePlace): void;
  left(rank: number, stream: Stream, place: LinePlace): void;
}

/** An unfinished line longer than this is passed on in pieces. */
const lineBytesMax = 64 << 20;
const newline = 10;

interface Source {
  readonly printer: Printer;
  readonly stream: Stream;
  readonly numbers: LineNumbers;
  /** Behind what has been passed on. */
  readonly passed: LinePlace;
  /** Of the line that is passed on next, or whose first part has been. */
  number: number;
  held: Uint8Array[];
  heldBytes: number;
  /** The first part of the line that is held has been passed on already. */
  begun: boolean;
  /** It will be seen whether what is held can be shown. */
  isWatched: boolean;
}

export class LineMerge {
  readonly #sink: LineSink;
  readonly #watched: Watched | null;
  readonly #keeper: LineKeeper | null;
  readonly #sources = new Map<string, Source>();
  #underWay = 0;
  #idle: (() => void)[] = [];

  /** `watched`: null where no stream is a terminal. `keeper`: null where nobody goes on with the job. */
  constructor(sink: LineSink, watched: Watched | null = null, keeper: LineKeeper | null = null) {
    this.#sink = sink;
    this.#watched = watched;
    this.#keeper = keeper;
  }

  accept(printer: Printer, chunk: LineChunk, done: () => void): void {
    const source = this.#sourceOf(printer, chunk.stream);
    const bytes = this.#fresh(source, chunk);
    const end = bytes.lastIndexOf(newline) + 1;
    if (end === 0) {
      this.#hold(source, bytes);
      if (chunk.flush || source.heldBytes > lineBytesMax) this.#passUnfinished(source, done);
      else done();
      return;
    }
    this.#hold(source, bytes.subarray(0, end));
    const lines = Buffer.concat(source.held, source.heldBytes);
    const startsLine = !source.begun;
    const number = source.number;
    source.number += countLines(lines);
    this.#release(source, false);
    this.#hold(source, bytes.subarray(end));
    const rest = chunk.flush && source.heldBytes > 0;
    const all = rest ? after(2, done) : done;
    this.#pass(source, { printer, stream: chunk.stream, number, startsLine, bytes: lines }, all);
    if (rest) this.#passUnfinished(source, all);
  }

  /** A process does not number what comes past its ranks, and never repeats it. */
  #fresh({ printer, numbers }: Source, { stream, number, offset, bytes, flush }: LineChunk): Uint8Array {
    if (printer.kind === "node") return bytes;
    const place = { number: numbers.line, offset: numbers.offset };
    const fresh = bytes.subarray(numbers.offer(number, offset, bytes));
    if (fresh.length > 0) this.#keeper?.came(printer.rank, { stream, ...place, bytes: fresh, flush });
    return fresh;
  }

  /** Nothing more comes from there: what is held goes out as it is. */
  finish(printer: Printer): void {
    for (const stream of ["stdout", "stderr"] as const) this.#passUnfinished(this.#sourceOf(printer, stream), () => {});
  }

  finishAll(): void {
    for (const source of this.#sources.values()) this.#passUnfinished(source, () => {});
  }

  /** When everything that was passed on has left. */
  whenIdle(): Promise<void> {
    if (this.#underWay === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #sourceOf(printer: Printer, stream: Stream): Source {
    const key = `${stream} ${printer.kind} ${printer.kind === "rank" ? printer.rank : printer.node}`;
    let source = this.#sources.get(key);
    if (source === undefined) {
      const start = (printer.kind === "rank" ? this.#keeper?.startOf(printer.rank, stream) : null) ?? {
        line: 0,
        offset: 0,
      };
      source = {
        printer,
        stream,
        numbers: new LineNumbers(start),
        passed: { ...start },
        number: start.line,
        held: [],
        heldBytes: 0,
        begun: start.offset > 0,
        isWatched: false,
      };
      this.#sources.set(key, source);
    }
    return source;
  }

  #hold(source: Source, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    source.held.push(bytes);
    source.heldBytes += bytes.length;
    this.#watch(source);
  }

  #watch(source: Source): void {
    const watched = this.#watched;
    if (watched === null || source.isWatched) return;
    source.isWatched = true;
    watched.soon(() => {
      source.isWatched = false;
      if (source.heldBytes === 0) return;
      if (watched.mayShow(source.printer, source.stream)) this.#passUnfinished(source, () => {});
    });
  }

  #release(source: Source, begun: boolean): void {
    source.held = [];
    source.heldBytes = 0;
    source.begun = begun;
  }

  #passUnfinished(source: Source, done: () => void): void {
    const { printer, stream, number } = source;
    const bytes = Buffer.concat(source.held, source.heldBytes);
    const startsLine = !source.begun;
    this.#release(source, source.begun || bytes.length > 0);
    this.#pass(source, { printer, stream, number, startsLine, bytes }, done);
  }

  #pass({ passed }: Source, lines: Lines, done: () => void): void {
    if (lines.bytes.length === 0) {
      done();
      return;
    }
    const { printer, stream } = lines;
    passOver(passed, lines.bytes);
    const end = { ...passed };
    if (printer.kind === "rank") this.#keeper?.leaves(printer.rank, stream, end);
    this.#underWay++;
    this.#sink(lines, () => {
      this.#underWay--;
      if (printer.kind === "rank") this.#keeper?.left(printer.rank, stream, end);
      done();
      if (this.#underWay === 0) for (const resolve of this.#idle.splice(0)) resolve();
    });
  }
}

function after(calls: number, then: () => void): () => void {
  let left = calls;
  return () => {
    left--;
    if (left === 0) then();
  };
}
