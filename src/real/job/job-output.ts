/**
 * Printed lines on their way out of the job: to the streams that were given, otherwise to the job's events. The job is over when all
 * of them have left, or no reader can be expected any more.
 */
import type { Writable } from "node:stream";
import { describeSystemError, isFull } from "../../core/base/system-error.ts";
import type { LineChunk, Stream } from "../messages/lines.ts";
import { LineMerge, type LineSink, type Lines, type Printer, type Watched } from "../output/line-merge.ts";
import { OutputFiles } from "../output/output-files.ts";
import { type StreamSink, streamSink } from "../output/stream-sink.ts";
import { type Player, WholeLines } from "../output/whole-lines.ts";
import { fileBehind, type OutputFile } from "./folder/output-file.ts";
import type { LineEvent } from "./report/job-event.ts";

/** On a terminal a question without a line end is seen that soon; the rest of a long line has come by then. */
const unfinishedMs = 20;

interface JobOutputOptions {
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** Is the rank to stand in front of each line? */
  readonly label: boolean;
  readonly ranks: number;
  /** How many processes play each rank; null: one. */
  readonly replicas: readonly number[] | null;
  /** Where each rank's output is written besides; empty: nowhere. */
  readonly outputFolder: string;
  /** What is printed is written down there; null: nobody goes on with the job. */
  readonly keeper: OutputFile | null;
}

interface JobOutputPorts {
  /** The name of a rank in front of its lines. */
  shortNameOf(rank: number): string;
  /** A line that becomes an event. Call `done`, if given, when it has been taken. */
  line(event: LineEvent, bytes: number, done: (() => void) | undefined): void;
  /** The reader has closed the pipe: a decision. */
  closed(): void;
  /** The disk is full, or the like: no decision. Told once. */
  lost(message: string): void;
}

export class JobOutput {
  readonly #ports: JobOutputPorts;
  readonly #streams: Pick<StreamSink, "release">[] = [];
  /** Streams of the job's owner. */
  readonly #shown = new Map<Stream, StreamSink>();
  readonly #lines: LineMerge;
  readonly #keeper: OutputFile | null;
  /** Null: a rank is one process; or people watch, who see unfinished lines. */
  readonly #wholeLines: WholeLines | null;
  #isLost = false;
  #giveUp!: () => void;
  readonly #isHopeless = new Promise<void>((resolve) => {
    this.#giveUp = resolve;
  });

  constructor(options: JobOutputOptions, ports: JobOutputPorts) {
    this.#ports = ports;
    this.#keeper = options.keeper;
    const sink = this.#createSink(options);
    const watched = this.#watched();
    this.#lines = new LineMerge(sink, watched, options.keeper);
    this.#wholeLines = options.replicas === null || watched !== null ? null : new WholeLines();
  }

  /** The job goes on: what had come and not left, as far as anybody knows, leaves now. */
  resume(): void {
    for (const { rank, stream, line, offset, bytes, flush } of this.#keeper?.book.waiting ?? []) {
      this.accept({ kind: "rank", rank }, { stream, number: line, offset, bytes, flush }, () => {});
    }
  }

  /** Null: nobody watches. */
  #watched(): Watched | null {
    if (![...this.#shown.values()].some(({ isTerminal }) => isTerminal)) return null;
    return {
      mayShow: (printer, stream) => this.#shown.get(stream)?.mayShow(printer) === true,
      soon: (act) => void setTimeout(act, unfinishedMs).unref(),
    };
  }

  /** Has something been printed that could not be written? */
  get isLost(): boolean {
    return this.#isLost;
  }

  accept(printer: Printer, chunk: LineChunk, done: () => void): void {
    this.#lines.accept(printer, chunk, done);
  }

  /** Of a process that plays a rank, perhaps beside others. */
  acceptFrom(player: Player, chunk: LineChunk, done: () => void): void {
    const offered = this.#wholeLines === null ? chunk : this.#wholeLines.take(player, chunk);
    if (offered === null) done();
    else this.accept({ kind: "rank", rank: player.rank }, offered, done);
  }

  /** The end of the job no longer waits for readers. */
  giveUp(): void {
    this.#giveUp();
  }

  giveUpIn(ms: number): void {
    setTimeout(this.#giveUp, ms).unref();
  }

  /** Nothing more is printed. Fulfilled when everything has left, or was given up; the streams are their owners' again. */
  async end(): Promise<void> {
    for (const { rank, chunk } of this.#wholeLines?.finish() ?? [])
      this.accept({ kind: "rank", rank }, chunk, () => {});
    this.#lines.finishAll();
    await Promise.race([this.#lines.whenIdle(), this.#isHopeless]);
    for (const stream of this.#streams) stream.release();
  }

  #createSink({ stdout, stderr, label, ranks, outputFolder }: JobOutputOptions): LineSink {
    const width = String(ranks - 1).length;
    const labelOf = (printer: Printer): string =>
      printer.kind === "rank"
        ? `[${this.#ports.shortNameOf(printer.rank).padStart(width)}] `
        : `[node ${printer.node}] `;
    const sinkOf = (stream: Writable | undefined, name: Stream): LineSink => {
      if (stream === undefined) return (lines, done) => this.#toEvents(lines, done);
      const sink = streamSink(stream, {
        labelOf: label ? labelOf : undefined,
        ...this.#kept(stream, name),
        failed: (error) => this.#failed(name === "stdout" ? "standard output" : "standard error", error),
      });
      this.#streams.push(sink);
      this.#shown.set(name, sink);
      return sink.write;
    };
    const sinks: Record<Stream, LineSink> = {
      stdout: sinkOf(stdout, "stdout"),
      stderr: sinkOf(stderr, "stderr"),
    };
    if (outputFolder === "") return (lines, done) => sinks[lines.stream](lines, done);
    const files = new OutputFiles(outputFolder, (message) => this.#cannotWrite(message));
    this.#streams.push({ release: () => files.close() });
    return (lines, done) => {
      files.write(lines);
      sinks[lines.stream](lines, done);
    };
  }

  /** Where bytes go to a file its size says which of them are there. */
  #kept(stream: Writable, name: Stream): { writing?: (bytes: number) => void; skipBytes?: number } {
    const keeper = this.#keeper;
    const { fd } = stream as Partial<Record<"fd", unknown>>;
    if (keeper === null || typeof fd !== "number") return {};
    return {
      writing: (bytes) => keeper.writing(bytes, fd),
      skipBytes: keeper.bytesThere(name, fileBehind(fd)),
    };
  }

  #failed(name: string, error: Error): void {
    // What has not been written has not left.
    this.#keeper?.close();
    if (!isFull(error)) this.#ports.closed();
    else if (!this.#isLost) {
      this.#giveUp();
      this.#cannotWrite(`Cannot write to ${name}: ${describeSystemError(error)}; what the ranks print is lost`);
    }
  }

  #cannotWrite(message: string): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#ports.lost(message);
  }

  #toEvents({ printer, stream, number, bytes }: Lines, done: () => void): void {
    const rank = printer.kind === "rank" ? printer.rank : null;
    const texts = bytes.toString().split("\n");
    const unfinished = texts.pop()!;
    const events = texts.map(
      (text, i): LineEvent => ({ kind: "line", rank, stream, number: number + i, text, ended: true }),
    );
    if (unfinished !== "")
      events.push({ kind: "line", rank, stream, number: number + texts.length, text: unfinished, ended: false });
    for (const event of events)
      this.#ports.line(event, event.text.length + 1, event === events.at(-1) ? done : undefined);
  }
}
