/**
 * `-fcommon`, gcc's default before version 10: a variable that several files declare without a value (`int counter;` in a
 * header) is one variable. WebAssembly has no common symbols, so such variables are weak in the objects: the linker takes one
 * of them, or the definition of the file that gives it a value. Where files differ in the size of a variable, the largest is
 * taken.
 *
 * Reads and changes the symbol table of an object: section "linking", subsection 8, of the tool conventions for WebAssembly
 * (https://github.com/WebAssembly/tool-conventions/blob/main/Linking.md).
 */

import type { LinkFile } from "./requests.ts";
import { WasmReader } from "./wasm-reader.ts";

const flag = { WEAK: 0x01, LOCAL: 0x02, UNDEFINED: 0x10, EXPLICIT_NAME: 0x40, ABSOLUTE: 0x200 } as const;
const symbolKind = { FUNCTION: 0, DATA: 1, GLOBAL: 2, SECTION: 3, EVENT: 4, TABLE: 5 } as const;
const subsection = { SEGMENTS: 5, SYMBOLS: 8 } as const;

/** A variable in an object. Numbers are offsets of bytes. */
interface Variable {
  readonly name: string;
  readonly flags: number;
  readonly flagsAt: number;
  readonly segment: number;
  readonly size: number;
  /** Offsets of segment, offset and size. */
  readonly place: readonly [from: number, to: number];
}

interface Symbols {
  readonly variables: readonly Variable[];
  readonly segmentNames: readonly string[];
  /** Offsets of the lengths of the section and of the table. */
  readonly lengths: readonly (readonly [from: number, to: number])[];
}

/** The object of a file that was compiled with `-fcommon`: variables without a value are weak. */
export function withCommon(object: Uint8Array): Uint8Array {
  const symbols = readSymbols(object);
  if (symbols === undefined) return object;
  const bytes = Uint8Array.from(object);
  for (const { flagsAt } of symbols.variables.filter((each) => isEmpty(symbols, each))) bytes[flagsAt]! |= flag.WEAK;
  return bytes;
}

/** Of weak variables that differ in size only the largest stays; the others refer to it. */
export function largestOnly(files: readonly LinkFile[]): LinkFile[] {
  const largest = new Map<string, number>();
  const differing = new Set<string>();
  const tables = files.map(({ bytes }) => readSymbols(bytes));
  for (const symbols of tables) {
    for (const variable of weakOf(symbols)) {
      const known = largest.get(variable.name) ?? variable.size;
      if (known !== variable.size) differing.add(variable.name);
      largest.set(variable.name, Math.max(known, variable.size));
    }
  }
  if (differing.size === 0) return [...files];
  return files.map((file, index) => {
    const symbols = tables[index];
    const smaller = weakOf(symbols).filter(({ name, size }) => size < largest.get(name)!);
    return smaller.length === 0 ? file : { ...file, bytes: undefine(file.bytes, symbols!, smaller) };
  });
}

const isEmpty = ({ segmentNames }: Symbols, { flags, segment }: Variable): boolean =>
  (flags & (flag.WEAK | flag.LOCAL | flag.ABSOLUTE)) === 0 && /^\.bss\b/.test(segmentNames[segment] ?? "");

const weakOf = (symbols: Symbols | undefined): Variable[] =>
  (symbols?.variables ?? []).filter(
    ({ flags, segment }) => (flags & flag.WEAK) !== 0 && /^\.bss\b/.test(symbols!.segmentNames[segment] ?? ""),
  );

function undefine(object: Uint8Array, { lengths }: Symbols, variables: readonly Variable[]): Uint8Array {
  const bytes = Uint8Array.from(object);
  let removed = 0;
  const kept: Uint8Array[] = [];
  let from = 0;
  for (const { flagsAt, place } of variables) {
    bytes[flagsAt]! |= flag.UNDEFINED;
    kept.push(bytes.subarray(from, place[0]));
    from = place[1];
    removed += place[1] - place[0];
  }
  kept.push(bytes.subarray(from));
  for (const length of lengths) putLength(bytes, length, new WasmReader(object, length[0]).number() - removed);
  return Buffer.concat(kept);
}

/** Written in as many bytes as before. */
function putLength(bytes: Uint8Array, [from, to]: readonly [number, number], value: number): void {
  let rest = value;
  for (let at = from; at < to; at++, rest >>>= 7) bytes[at] = (rest & 0x7f) | (at === to - 1 ? 0 : 0x80);
}

/** Undefined: no object of WebAssembly, or one without symbols. */
function readSymbols(bytes: Uint8Array): Symbols | undefined {
  const magic = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  if (bytes.length < 8 || magic.some((byte, at) => bytes[at] !== byte)) return undefined;
  const reader = new WasmReader(bytes, 8);
  while (!reader.atEnd) {
    const id = reader.byte();
    const lengthAt = reader.at;
    const length = reader.number();
    const start = reader.at;
    if (id === 0 && reader.text() === "linking") return readLinking(reader, start + length, [lengthAt, start]);
    reader.at = start + length;
  }
  return undefined;
}

function readLinking(reader: WasmReader, end: number, sectionLength: readonly [number, number]): Symbols {
  reader.number();
  let segmentNames: string[] = [];
  let variables: Variable[] = [];
  const lengths = [sectionLength];
  while (reader.at < end) {
    const kind = reader.byte();
    const lengthAt = reader.at;
    const length = reader.number();
    const next = reader.at + length;
    if (kind === subsection.SEGMENTS) segmentNames = readSegmentNames(reader);
    if (kind === subsection.SYMBOLS) {
      lengths.push([lengthAt, next - length]);
      variables = readVariables(reader);
    }
    reader.at = next;
  }
  return { variables, segmentNames, lengths };
}

function readSegmentNames(reader: WasmReader): string[] {
  return Array.from({ length: reader.number() }, () => {
    const name = reader.text();
    reader.number();
    reader.number();
    return name;
  });
}

function readVariables(reader: WasmReader): Variable[] {
  const variables: Variable[] = [];
  for (let count = reader.number(); count > 0; count--) {
    const kind = reader.byte();
    const flagsAt = reader.at;
    const flags = reader.number();
    const isDefined = (flags & flag.UNDEFINED) === 0;
    if (kind === symbolKind.DATA) {
      const name = reader.text();
      if (!isDefined) continue;
      const placeAt = reader.at;
      const segment = reader.number();
      reader.number();
      const size = reader.number();
      variables.push({ name, flags, flagsAt, segment, size, place: [placeAt, reader.at] });
    } else {
      reader.number();
      if (kind !== symbolKind.SECTION && (isDefined || (flags & flag.EXPLICIT_NAME) !== 0)) reader.text();
    }
  }
  return variables;
}
