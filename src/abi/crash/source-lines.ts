/**
 * Offsets in the module of a C program to lines of its sources: the source map that `banyan cc -g` leaves in the module, of version 3 of
 * the format (ECMA-426), in which a module is one line and its offsets are columns. Read when a program has crashed.
 */

/** Of the code from its offset to the next segment; `source` -1: of no source. */
interface Segment {
  readonly offset: number;
  readonly source: number;
  readonly line: number;
  readonly column: number;
}

const sectionName = "sourceMappingURL";
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

export class SourceLines {
  readonly #sources: readonly string[];
  readonly #segments: readonly Segment[];

  constructor(sources: readonly string[], mappings: string) {
    this.#sources = sources;
    this.#segments = decode(mappings);
  }

  /** "solver.c:42:7"; undefined: nothing is known of that offset. */
  at(offset: number): string | undefined {
    let [low, high] = [0, this.#segments.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#segments[middle]!.offset <= offset) low = middle + 1;
      else high = middle;
    }
    const segment = this.#segments[low - 1];
    if (segment === undefined || segment.source < 0) return undefined;
    const place = `${this.#sources[segment.source] ?? "?"}:${segment.line + 1}`;
    return segment.column > 0 ? `${place}:${segment.column}` : place;
  }
}

/** Undefined: the program was compiled without `-g`. */
export function sourceLinesOf(module: WebAssembly.Module): SourceLines | undefined {
  const [section] = WebAssembly.Module.customSections(module, sectionName);
  if (section === undefined) return undefined;
  const text = Buffer.from(section).toString("latin1");
  const encoded = /data:application\/json;base64,(.*)$/s.exec(text)?.[1];
  if (encoded === undefined) return undefined;
  const { sources, mappings } = JSON.parse(Buffer.from(encoded, "base64").toString()) as {
    readonly sources: readonly string[];
    readonly mappings: string;
  };
  return new SourceLines(sources, mappings);
}

function decode(mappings: string): Segment[] {
  const segments: Segment[] = [];
  let [offset, source, line, column] = [0, 0, 0, 0];
  for (const text of mappings.split(",")) {
    const numbers = numbersOf(text);
    if (numbers.length === 0) continue;
    offset += numbers[0]!;
    if (numbers.length < 4) {
      segments.push({ offset, source: -1, line: 0, column: 0 });
      continue;
    }
    source += numbers[1]!;
    line += numbers[2]!;
    column += numbers[3]!;
    segments.push({ offset, source, line, column });
  }
  return segments;
}

/** Numbers in base 64, the sign in the lowest bit. */
function numbersOf(text: string): number[] {
  const numbers: number[] = [];
  let [value, factor] = [0, 1];
  for (const letter of text) {
    const digit = digits.indexOf(letter);
    if (digit < 0) return [];
    value += (digit & 31) * factor;
    factor *= 32;
    if ((digit & 32) !== 0) continue;
    numbers.push(value % 2 === 0 ? value / 2 : -(value - 1) / 2);
    [value, factor] = [0, 1];
  }
  return numbers;
}
