/**
 * `-fcommon`, gcc's default before version 10: a variable that several files declare without a value (`int counter;` in a
 * header) is one variable. WebAssembly has no common symbols, so such variables are weak in the objects: the linker takes one
 * of them, or the definition of the file that gives it a value. Where files differ in the size of a variable, the largest is
 * taken.
 */

import { type ObjectSymbols, readSymbols, symbolFlag, type Variable } from "./object-symbols.ts";
import type { LinkFile } from "./requests.ts";
import { WasmReader } from "./wasm-reader.ts";

/** The object of a file that was compiled with `-fcommon`: variables without a value are weak. */
export function withCommon(object: Uint8Array): Uint8Array {
  const symbols = readSymbols(object);
  if (symbols === undefined) return object;
  const bytes = Uint8Array.from(object);
  for (const { flagsAt } of symbols.variables.filter((each) => isEmpty(symbols, each)))
    bytes[flagsAt]! |= symbolFlag.WEAK;
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

const isEmpty = ({ segmentNames }: ObjectSymbols, { flags, segment }: Variable): boolean =>
  (flags & (symbolFlag.WEAK | symbolFlag.LOCAL | symbolFlag.ABSOLUTE)) === 0 &&
  /^\.bss\b/.test(segmentNames[segment] ?? "");

const weakOf = (symbols: ObjectSymbols | undefined): Variable[] =>
  (symbols?.variables ?? []).filter(
    ({ flags, segment }) => (flags & symbolFlag.WEAK) !== 0 && /^\.bss\b/.test(symbols!.segmentNames[segment] ?? ""),
  );

function undefine(object: Uint8Array, { lengths }: ObjectSymbols, variables: readonly Variable[]): Uint8Array {
  const bytes = Uint8Array.from(object);
  let removed = 0;
  const kept: Uint8Array[] = [];
  let from = 0;
  for (const { flagsAt, place } of variables) {
    bytes[flagsAt]! |= symbolFlag.UNDEFINED;
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
