/** Lines into a stream of the dispatcher, each with its rank in front when asked for. */
import type { Writable } from "node:stream";
import type { LineSink, Lines, Printer } from "./line-merge.ts";

interface StreamSinkOptions {
  /** Put in front of every line; nothing when undefined. */
  readonly labelOf: ((printer: Printer) => string) | undefined;
  /** Something could not be written; told before the write is done, perhaps more than once. */
  readonly failed: (error: Error) => void;
  /** So many bytes are written now. */
  readonly writing?: ((bytes: number) => void) | undefined;
  /** So many bytes, the first that would be written, are there already. */
  readonly skipBytes?: number | undefined;
}

const newline = 10;

export interface StreamSink {
  readonly write: LineSink;
  readonly isTerminal: boolean;
  /** Is it a terminal on which no line stands unfinished but one of that printer? */
  mayShow(printer: Printer): boolean;
  /**
   * The stream is its owner's again, unless it is broken. Where lines have labels the last one is given its end: what the owner
   * writes next is nobody's line.
   */
  release(): void;
}

export function streamSink(
  stream: Writable,
  { labelOf, failed, writing, skipBytes = 0 }: StreamSinkOptions,
): StreamSink {
  let skipped = 0;
  // Where the last line has no end, it belongs to this printer, and only that one may go on with it.
  let openLineOf: Printer | undefined;
  let hasFailed = false;
  const fail = (error: Error): void => {
    hasFailed = true;
    failed(error);
  };
  stream.on("error", fail);

  const write: LineSink = (lines, done) => {
    const continues = openLineOf !== undefined && !lines.startsLine && isSame(openLineOf, lines.printer);
    const parts: Buffer[] = [];
    if (openLineOf !== undefined && !continues) parts.push(Buffer.from("\n"));
    if (labelOf === undefined) parts.push(lines.bytes);
    else pushLabelled(parts, lines, { label: Buffer.from(labelOf(lines.printer)), continues });
    openLineOf = lines.bytes.at(-1) === newline ? undefined : lines.printer;
    const all = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    const skips = Math.min(all.length, skipBytes - skipped);
    skipped += skips;
    writing?.(all.length - skips);
    stream.write(all.subarray(skips), (error) => {
      if (error) fail(error);
      done();
    });
  };
  const isTerminal = "isTTY" in stream && stream.isTTY === true;
  const mayShow = (printer: Printer): boolean =>
    isTerminal && (openLineOf === undefined || isSame(openLineOf, printer));
  const release = (): void => {
    // On a terminal the next line is somebody else's: the summary's, or the shell's.
    const endsLine = labelOf !== undefined || isTerminal;
    if (endsLine && openLineOf !== undefined && !hasFailed) stream.write("\n");
    // The error of a write is emitted after the write is done; somebody must be there to hear it.
    if (!hasFailed) stream.off("error", fail);
  };
  return { write, isTerminal, mayShow, release };
}

function pushLabelled(
  parts: Buffer[],
  { bytes }: Lines,
  { label, continues }: { label: Buffer; continues: boolean },
): void {
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(newline, from) + 1 || bytes.length;
    if (from > 0 || !continues) parts.push(label);
    parts.push(bytes.subarray(from, end));
    from = end;
  }
}

function isSame(a: Printer, b: Printer): boolean {
  return a.kind === "rank" ? b.kind === "rank" && a.rank === b.rank : b.kind === "node" && a.node === b.node;
}
