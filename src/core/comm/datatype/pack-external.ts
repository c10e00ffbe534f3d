/**
 * Packing in external32 (MPI 5.0 §5.3, §14.5.2): big endian, with sizes that are equal on every machine. Addresses grow from 4
 * bytes to 8, wide characters shrink from 4 to 2 (and lose their high bytes); all other elements keep their size.
 */
import { ErrorClass, MpiError } from "../../base/mpi-error.ts";
import type { Datatype } from "./datatype.ts";
import { type Element, isSigned } from "./element.ts";
import { checkPacked, type ItemsInMemory, type PackedAt, pack, unpack } from "./pack.ts";
import { forEachRun, forEachTotal } from "./signature.ts";

/** The only representation there is; any other name is the program's mistake. */
export function checkDatarep(name: string): void {
  if (name === "external32") return;
  throw new MpiError(ErrorClass.ARG, `Cannot pack as "${name}": the only external representation is "external32"`);
}

export function packExternalSize(type: Datatype, count: number): number {
  let bytes = 0;
  forEachTotal(type.signature, (element, elements) => {
    bytes += elements * (element.bytes / element.unitBytes) * element.externalUnitBytes;
  });
  return bytes * count;
}

/** Returns the bytes packed. */
export function packExternal(items: ItemsInMemory, packed: PackedAt): number {
  const { type, count } = items;
  const bytes = packExternalSize(type, count);
  checkPacked("pack", packed, bytes);
  const native = new Uint8Array(type.size * count);
  pack(items, { bytes: native, offset: 0 });
  forEachUnit(type, count, (element, at, externalAt) => {
    toExternal(element, native, at, packed.bytes, packed.offset + externalAt);
  });
  return bytes;
}

/** Returns the bytes unpacked. */
export function unpackExternal(packed: PackedAt, items: ItemsInMemory): number {
  const { type, count } = items;
  const bytes = packExternalSize(type, count);
  checkPacked("unpack", packed, bytes);
  const native = new Uint8Array(type.size * count);
  forEachUnit(type, count, (element, at, externalAt) => {
    fromExternal(element, packed.bytes, packed.offset + externalAt, native, at);
  });
  unpack({ bytes: native, offset: 0 }, items);
  return bytes;
}

/** Every unit of `count` items in packing order: its byte offsets in this machine's packed form and in the external one. */
function forEachUnit(
  type: Datatype,
  count: number,
  visit: (element: Element, at: number, externalAt: number) => void,
): void {
  let [at, externalAt] = [0, 0];
  forEachRun(type.signature, count, (element, elements) => {
    const units = elements * (element.bytes / element.unitBytes);
    for (let i = 0; i < units; i++, at += element.unitBytes, externalAt += element.externalUnitBytes) {
      visit(element, at, externalAt);
    }
  });
}

/** The low bytes in reverse order, behind the bytes that fill a wider external form. */
function toExternal(element: Element, native: Uint8Array, from: number, target: Uint8Array, to: number): void {
  const { unitBytes: own, externalUnitBytes: external } = element;
  const fill = isSigned(element.format) && native[from + own - 1]! > 127 ? 0xff : 0;
  for (let i = 0; i < external; i++) target[to + external - 1 - i] = i < own ? native[from + i]! : fill;
}

function fromExternal(element: Element, source: Uint8Array, from: number, native: Uint8Array, to: number): void {
  const { unitBytes: own, externalUnitBytes: external } = element;
  const fill = isSigned(element.format) && source[from]! > 127 ? 0xff : 0;
  for (let i = 0; i < own; i++) native[to + i] = i < external ? source[from + external - 1 - i]! : fill;
}
