/** The kinds of values in saved state: the byte in front of each. The numbers are part of the format. */
export const Value = {
  UNDEFINED: 0,
  NULL: 1,
  TRUE: 2,
  FALSE: 3,
  INT: 4,
  DOUBLE: 5,
  BIGINT: 6,
  TEXT: 7,
  /** An object that has been written before, by its number: objects are numbered in the order of writing. */
  AGAIN: 8,
  ARRAY: 9,
  PLAIN: 10,
  TYPED_ARRAY: 11,
  MAP: 12,
  SET: 13,
  /** An object of a class of saved-classes.ts. */
  INSTANCE: 14,
  /** An object of the outside world, by name. */
  WORLD: 15,
  /** A function or a view of shared memory: the living object keeps its own. */
  OWN: 16,
  /** An element that an array lacks. */
  HOLE: 17,
} as const;

export const typedArrays = {
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
} as const;

export type AnyTypedArray = InstanceType<(typeof typedArrays)[keyof typeof typedArrays]>;
export type TypedArrayName = keyof typeof typedArrays;

export const isAnyTypedArray = (object: object): object is AnyTypedArray =>
  ArrayBuffer.isView(object) && !(object instanceof DataView);
