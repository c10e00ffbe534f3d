/**
 * The basic elements of datatypes: their bytes, their arithmetic, their form in external32 (MPI 5.0 §14.5.2). Sizes and
 * alignments are those of C on wasm32: `long` and pointers have 4 bytes.
 */

/** How operations read an element's bytes. `opaque` elements are only copied. */
export type ElementFormat =
  | "int8"
  | "uint8"
  | "int16"
  | "uint16"
  | "int32"
  | "uint32"
  | "int64"
  | "uint64"
  | "int128"
  | "float16"
  | "float32"
  | "float64"
  | "float128"
  | "complex32"
  | "complex64"
  | "complex128"
  | "complex256"
  | "opaque";

/** The groups of MPI 5.0 §6.9.2, which say which operations an element takes. */
export type ElementGroup =
  | "integer"
  | "fortran integer"
  | "address"
  | "floating"
  | "logical"
  | "complex"
  | "byte"
  | "text";

export interface Element {
  readonly name: string;
  readonly group: ElementGroup;
  readonly format: ElementFormat;
  readonly bytes: number;
  readonly alignment: number;
  /** Bytes that are reversed together between little and big endian: half of a complex number. */
  readonly unitBytes: number;
  /** Length of a unit in external32; differs from the length in memory for addresses (8) and wide characters (2). */
  readonly externalUnitBytes: number;
}

const units: Record<ElementFormat, readonly [bytes: number, unit: number]> = {
  int8: [1, 1],
  uint8: [1, 1],
  int16: [2, 2],
  uint16: [2, 2],
  int32: [4, 4],
  uint32: [4, 4],
  int64: [8, 8],
  uint64: [8, 8],
  int128: [16, 16],
  float16: [2, 2],
  float32: [4, 4],
  float64: [8, 8],
  float128: [16, 16],
  complex32: [4, 2],
  complex64: [8, 4],
  complex128: [16, 8],
  complex256: [32, 16],
  opaque: [1, 1],
};

export function element(name: string, group: ElementGroup, format: ElementFormat, externalUnitBytes?: number): Element {
  const [bytes, unitBytes] = units[format];
  return {
    name,
    group,
    format,
    bytes,
    alignment: unitBytes,
    unitBytes,
    externalUnitBytes: externalUnitBytes ?? unitBytes,
  };
}

/** Does the arithmetic of the element know signs? External32 widens signed and unsigned elements differently. */
export function isSigned(format: ElementFormat): boolean {
  return !format.startsWith("uint") && format !== "opaque";
}
