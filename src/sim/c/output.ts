/** What a simulated C process prints, cut into lines. A line that is not complete yet is part of the process's image. */
import { lives } from "../../core/base/saved-classes.ts";

const newline = 10;

/** 1: standard output, 2: error output. */
export type PrintedStream = 1 | 2;

export interface PrintedLine {
  readonly rank: number;
  readonly stream: PrintedStream;
  /** Its end included, unless it was the last and had none. */
  readonly bytes: Uint8Array;
}

export class LineCutter {
  private readonly begun: Record<PrintedStream, Uint8Array> = { 1: new Uint8Array(0), 2: new Uint8Array(0) };

  /** The lines that these bytes complete. */
  cut(stream: PrintedStream, bytes: Uint8Array): Uint8Array[] {
    const lines: Uint8Array[] = [];
    let rest = joined(this.begun[stream], bytes);
    for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
      lines.push(rest.slice(0, end + 1));
      rest = rest.subarray(end + 1);
    }
    this.begun[stream] = rest.slice();
    return lines;
  }

  /** The begun line, which was never completed. */
  rest(stream: PrintedStream): Uint8Array {
    return this.begun[stream];
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

lives({ LineCutter });
