/**
 * The predefined operations (MPI 5.0 §6.9.2): their numbers in the standard ABI, the groups of elements each takes, and the
 * table from operation and element to kernel. A combination that is missing in the table is an error of the program.
 */
import type { ElementFormat, ElementGroup } from "../datatype/element.ts";
import { type Kernel, scaled } from "../datatype/views.ts";
import * as arithmetic from "./kernels-arithmetic.ts";
import * as bytes from "./kernels-bytes.ts";
import * as complex from "./kernels-complex.ts";
import * as int64 from "./kernels-int64.ts";
import { location } from "./kernels-location.ts";
import * as logical from "./kernels-logical.ts";
import * as order from "./kernels-order.ts";
import * as quad from "./kernels-quad.ts";

export type OpName =
  | "SUM"
  | "MIN"
  | "MAX"
  | "PROD"
  | "BAND"
  | "BOR"
  | "BXOR"
  | "LAND"
  | "LOR"
  | "LXOR"
  | "MINLOC"
  | "MAXLOC"
  | "REPLACE"
  | "NO_OP";

export interface PredefinedOp {
  readonly kind: "predefined";
  readonly name: OpName;
  readonly handle: number;
  readonly isCommutative: boolean;
}

function op(name: OpName, handle: number, isCommutative = true): PredefinedOp {
  return { kind: "predefined", name, handle, isCommutative };
}

export const predefinedOps: Readonly<Record<OpName, PredefinedOp>> = {
  SUM: op("SUM", 0x21),
  MIN: op("MIN", 0x22),
  MAX: op("MAX", 0x23),
  PROD: op("PROD", 0x24),
  BAND: op("BAND", 0x28),
  BOR: op("BOR", 0x29),
  BXOR: op("BXOR", 0x2a),
  LAND: op("LAND", 0x30),
  LOR: op("LOR", 0x31),
  LXOR: op("LXOR", 0x32),
  MINLOC: op("MINLOC", 0x38),
  MAXLOC: op("MAXLOC", 0x39),
  REPLACE: op("REPLACE", 0x3c, false),
  NO_OP: op("NO_OP", 0x3d, false),
};

const ordered: readonly ElementGroup[] = ["integer", "fortran integer", "floating", "address"];
const numeric: readonly ElementGroup[] = [...ordered, "complex"];
/** The standard does not name addresses and counts here; MPICH accepts them, and programs use them. */
const truth: readonly ElementGroup[] = ["integer", "logical", "address"];
const bits: readonly ElementGroup[] = ["integer", "fortran integer", "byte", "address"];

/** Which groups of elements each operation on single elements takes. */
export const groupsOf: Readonly<Partial<Record<OpName, readonly ElementGroup[]>>> = {
  SUM: numeric,
  PROD: numeric,
  MIN: ordered,
  MAX: ordered,
  LAND: truth,
  LOR: truth,
  LXOR: truth,
  BAND: bits,
  BOR: bits,
  BXOR: bits,
};

type Kernels = Readonly<Partial<Record<ElementFormat, Kernel>>>;

/** Signed and unsigned integers share the operations that ignore the sign. */
function bySize(int8: Kernel, int16: Kernel, int32: Kernel, wide: Kernel): Kernels {
  return { int8, uint8: int8, int16, uint16: int16, int32, uint32: int32, int64: wide, uint64: wide };
}

/** For integers of any length: the kernel counts bytes. */
function byBytes(kernel: Kernel): Kernels {
  const wide = scaled(kernel, 8);
  return { ...bySize(kernel, scaled(kernel, 2), scaled(kernel, 4), wide), int128: scaled(kernel, 16) };
}

export const kernels: Readonly<Partial<Record<OpName, Kernels>>> = {
  SUM: {
    ...bySize(arithmetic.sumInt8, arithmetic.sumInt16, arithmetic.sumInt32, int64.sumInt64),
    float32: arithmetic.sumFloat32,
    float64: arithmetic.sumFloat64,
    float128: quad.sumFloat128,
    complex64: scaled(arithmetic.sumFloat32, 2),
    complex128: scaled(arithmetic.sumFloat64, 2),
    complex256: scaled(quad.sumFloat128, 2),
  },
  PROD: {
    ...bySize(arithmetic.prodInt8, arithmetic.prodInt16, arithmetic.prodInt32, int64.prodInt64),
    float32: arithmetic.prodFloat32,
    float64: arithmetic.prodFloat64,
    float128: quad.prodFloat128,
    complex64: complex.prodComplex64,
    complex128: complex.prodComplex128,
    complex256: quad.prodComplex256,
  },
  MIN: {
    int8: order.minInt8,
    uint8: order.minUint8,
    int16: order.minInt16,
    uint16: order.minUint16,
    int32: order.minInt32,
    uint32: order.minUint32,
    int64: int64.minInt64,
    uint64: int64.minUint64,
    float32: order.minFloat32,
    float64: order.minFloat64,
    float128: quad.minFloat128,
  },
  MAX: {
    int8: order.maxInt8,
    uint8: order.maxUint8,
    int16: order.maxInt16,
    uint16: order.maxUint16,
    int32: order.maxInt32,
    uint32: order.maxUint32,
    int64: int64.maxInt64,
    uint64: int64.maxUint64,
    float32: order.maxFloat32,
    float64: order.maxFloat64,
    float128: quad.maxFloat128,
  },
  LAND: bySize(logical.landInt8, logical.landInt16, logical.landInt32, int64.landInt64),
  LOR: bySize(logical.lorInt8, logical.lorInt16, logical.lorInt32, int64.lorInt64),
  LXOR: bySize(logical.lxorInt8, logical.lxorInt16, logical.lxorInt32, int64.lxorInt64),
  BAND: byBytes(bytes.bandBytes),
  BOR: byBytes(bytes.borBytes),
  BXOR: byBytes(bytes.bxorBytes),
};

/** By the formats of value and index. */
export const locationKernels: Readonly<Record<string, (wantsMax: boolean) => Kernel>> = {
  "float32 int32": (wantsMax) => location("float32", "int32", wantsMax),
  "float64 int32": (wantsMax) => location("float64", "int32", wantsMax),
  "float128 int32": quad.locationFloat128Int32,
  "int32 int32": (wantsMax) => location("int32", "int32", wantsMax),
  "int16 int32": (wantsMax) => location("int16", "int32", wantsMax),
  "float32 float32": (wantsMax) => location("float32", "float32", wantsMax),
  "float64 float64": (wantsMax) => location("float64", "float64", wantsMax),
};
