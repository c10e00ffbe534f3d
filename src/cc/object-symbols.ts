/**
 * The symbol table of an object: section "linking", subsection 8, of the tool conventions for WebAssembly
 * (https://github.com/WebAssembly/tool-conventions/blob/main/Linking.md).
 */

import { WasmReader } from "./wasm-reader.ts";

export const symbolFlag = { WEAK: 0x01, LOCAL: 0x02, UNDEFINED: 0x10, EXPLICIT_NAME: 0x40, ABSOLUTE: 0x200 } as const;
const symbolKind = { FUNCTION: 0, DATA: 1, GLOBAL: 2, SECTION: 3, EVENT: 4, TABLE: 5 } as const;
const subsection = { SEGMENTS: 5, SYMBOLS: 8 } as const;

/** A variable in an object. Numbers are offsets of bytes. */
export interface Variable {
  readonly name: string;
  readonly flags: number;
  readonly flagsAt: number;
  readonly segment: number;
  readonly size: number;
  /** Offsets of segment, offset and size. */
  readonly place: readonly [from: number, to: number];
}

export interface ObjectSymbols {
  /** Those that the object itself has, as below. */
  readonly variables: readonly Variable[];
  readonly functions: readonly string[];
  readonly segmentNames: readonly string[];
  /** Offsets of the lengths of the section and of the table. */
  readonly lengths: readonly (readonly [from: number, to: number])[];
}

/** Undefined: no object of WebAssembly, or one without symbols. */
export function readSymbols(bytes: Uint8Array): ObjectSymbols | undefined {
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

function readLinking(reader: WasmReader, end: number, sectionLength: readonly [number, number]): ObjectSymbols {
  reader.number();
  let segmentNames: string[] = [];
  const variables: Variable[] = [];
  const functions: string[] = [];
  const lengths = [sectionLength];
  while (reader.at < end) {
    const kind = reader.byte();
    const lengthAt = reader.at;
    const length = reader.number();
    const next = reader.at + length;
    if (kind === subsection.SEGMENTS) segmentNames = readSegmentNames(reader);
    if (kind === subsection.SYMBOLS) {
      lengths.push([lengthAt, next - length]);
      readTable(reader, variables, functions);
    }
    reader.at = next;
  }
  return { variables, functions, segmentNames, lengths };
}

function readSegmentNames(reader: WasmReader): string[] {
  return Array.from({ length: reader.number() }, () => {
    const name = reader.text();
    reader.number();
    reader.number();
    return name;
  });
}

function readTable(reader: WasmReader, variables: Variable[], functions: string[]): void {
  for (let count = reader.number(); count > 0; count--) {
    const kind = reader.byte();
    const flagsAt = reader.at;
    const flags = reader.number();
    const isDefined = (flags & symbolFlag.UNDEFINED) === 0;
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
      if (kind === symbolKind.SECTION || !(isDefined || (flags & symbolFlag.EXPLICIT_NAME) !== 0)) continue;
      const name = reader.text();
      if (kind === symbolKind.FUNCTION && isDefined) functions.push(name);
    }
  }
}
