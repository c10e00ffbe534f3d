/**
 * The predefined operations (MPI 5.0 §6.9.2): their numbers in the standard ABI, the groups of elements each takes, and the
 * way from operation and element to kernel. A combination without a kernel is an error of the program.
 */
import type { Element, ElementFormat, ElementGroup } from "../datatype/element.ts";
import { type Kernel, scaled } from "../datatype/views.ts";
import { bitsKernel } from "./kernels-bytes.ts";
import { location } from "./kernels-location.ts";
import { numberKernel } from "./kernels-number.ts";
import { locationFloat128Int32, quadKernels } from "./kernels-quad.ts";

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

const bitOperators = { BAND: "&", BOR: "|", BXOR: "^" } as const;

/** The kernel of an operation on single elements; undefined: there is no arithmetic for that format here. */
export function elementKernel(name: OpName, { format, bytes }: Element): Kernel | undefined {
  switch (name) {
    case "BAND":
    case "BOR":
    case "BXOR":
      return isInteger(format) ? scaled(bitsKernel(bitOperators[name]), bytes) : undefined;
    case "SUM":
    case "PROD":
    case "MIN":
    case "MAX":
    case "LAND":
    case "LOR":
    case "LXOR":
      return quadKernels[`${name} ${format}`] ?? numberKernel(name, format);
    default:
      return undefined;
  }
}

const isInteger = (format: ElementFormat): boolean => format.startsWith("int") || format.startsWith("uint");

/** MINLOC and MAXLOC, by the formats of value and index. */
export const locationKernels: Readonly<Record<string, (wantsMax: boolean) => Kernel>> = {
  "float32 int32": (wantsMax) => location("float32", "int32", wantsMax),
  "float64 int32": (wantsMax) => location("float64", "int32", wantsMax),
  "float128 int32": locationFloat128Int32,
  "int32 int32": (wantsMax) => location("int32", "int32", wantsMax),
  "int16 int32": (wantsMax) => location("int16", "int32", wantsMax),
  "float32 float32": (wantsMax) => location("float32", "float32", wantsMax),
  "float64 float64": (wantsMax) => location("float64", "float64", wantsMax),
};
