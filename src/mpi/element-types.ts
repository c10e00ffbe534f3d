/** Typed arrays and the predefined datatypes of their elements. */
import type { Datatype } from "../core/comm/datatype/datatype.ts";
import { predefinedTypes } from "../core/comm/datatype/datatype-predefined.ts";
import type { ElementFormat } from "../core/comm/datatype/element.ts";
import { onlyElement } from "../core/comm/datatype/signature.ts";
import type { TypedArray } from "./buffers.ts";

interface ArrayKind {
  readonly type: Datatype;
  make(length: number): TypedArray;
}

/** By the name that every typed array carries; a Buffer is a Uint8Array here. */
const kinds: Readonly<Record<string, ArrayKind>> = {
  Int8Array: { type: predefinedTypes.INT8_T, make: (length) => new Int8Array(length) },
  Uint8Array: { type: predefinedTypes.UINT8_T, make: (length) => new Uint8Array(length) },
  Uint8ClampedArray: { type: predefinedTypes.UINT8_T, make: (length) => new Uint8ClampedArray(length) },
  Int16Array: { type: predefinedTypes.INT16_T, make: (length) => new Int16Array(length) },
  Uint16Array: { type: predefinedTypes.UINT16_T, make: (length) => new Uint16Array(length) },
  Int32Array: { type: predefinedTypes.INT32_T, make: (length) => new Int32Array(length) },
  Uint32Array: { type: predefinedTypes.UINT32_T, make: (length) => new Uint32Array(length) },
  BigInt64Array: { type: predefinedTypes.INT64_T, make: (length) => new BigInt64Array(length) },
  BigUint64Array: { type: predefinedTypes.UINT64_T, make: (length) => new BigUint64Array(length) },
  Float32Array: { type: predefinedTypes.FLOAT, make: (length) => new Float32Array(length) },
  Float64Array: { type: predefinedTypes.DOUBLE, make: (length) => new Float64Array(length) },
  DataView: { type: predefinedTypes.BYTE, make: (length) => new DataView(new ArrayBuffer(length)) },
};

const kindOf = (array: TypedArray): ArrayKind => kinds[array[Symbol.toStringTag]]!;

/** The datatype of an array's elements; of a DataView BYTE. */
export function typeOf(array: TypedArray): Datatype {
  return kindOf(array).type;
}

/** A new array of the same kind. */
export function arrayLike<T extends TypedArray>(array: T, length: number): T {
  return kindOf(array).make(length) as T;
}

export function elementBytesOf(array: TypedArray): number {
  return "BYTES_PER_ELEMENT" in array ? array.BYTES_PER_ELEMENT : 1;
}

type View = new (buffer: ArrayBufferLike, byteOffset: number, length: number) => ArrayBufferView;

const views: Readonly<Partial<Record<ElementFormat, readonly [View, bytes: number]>>> = {
  int8: [Int8Array, 1],
  int16: [Int16Array, 2],
  uint16: [Uint16Array, 2],
  int32: [Int32Array, 4],
  uint32: [Uint32Array, 4],
  int64: [BigInt64Array, 8],
  uint64: [BigUint64Array, 8],
  float32: [Float32Array, 4],
  float64: [Float64Array, 8],
};

/** Bytes as a typed array of the type's elements, where all of them are of one such kind; as they are otherwise. */
export function viewAs(bytes: Uint8Array, type: Datatype): ArrayBufferView {
  const element = onlyElement(type.signature);
  const view = element === undefined ? undefined : views[element.format];
  if (view === undefined || bytes.byteOffset % view[1] !== 0) return bytes;
  return new view[0](bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / view[1]));
}
