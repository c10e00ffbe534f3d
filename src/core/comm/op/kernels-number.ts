/**
 * SUM, PROD, MIN, MAX and the logical operations on integers and floating-point numbers of up to 64 bits and on complex numbers made
 * of them.
 *
 * Integers wrap as in C. Floating point is plain IEEE arithmetic, each result rounded to its own format once: a sum or product of two
 * float32, computed in float64 and rounded by the store, is the float32 one. MIN and MAX: a NaN on either side gives NaN, and −0 is less than
 * +0, so the result does not depend on the order of combination. For logical operations any operand but 0 is true, and a true result
 * is 1; also for LOGICAL, whose true is 1 here.
 */
import type { ElementFormat } from "../datatype/element.ts";
import { type Kernel, scaled } from "../datatype/views.ts";
import { kernelLoop, type NumberArray } from "./kernel-loop.ts";

type NumberOp = "SUM" | "PROD" | "MIN" | "MAX" | "LAND" | "LOR" | "LXOR";

const bodies: Readonly<Record<NumberOp, string>> = {
  SUM: "c[z + i] = a[x + i] + b[y + i];",
  PROD: "c[z + i] = a[x + i] * b[y + i];",
  MIN: "c[z + i] = Math.min(a[x + i], b[y + i]);",
  MAX: "c[z + i] = Math.max(a[x + i], b[y + i]);",
  LAND: "c[z + i] = a[x + i] !== 0 && b[y + i] !== 0 ? 1 : 0;",
  LOR: "c[z + i] = a[x + i] !== 0 || b[y + i] !== 0 ? 1 : 0;",
  LXOR: "c[z + i] = (a[x + i] !== 0) !== (b[y + i] !== 0) ? 1 : 0;",
};

/** A product of 32 bits does not fit a float64. */
const prodInt32 = "c[z + i] = Math.imul(a[x + i], b[y + i]);";

/** Integers of 64 bits are pairs of 32-bit words, low word first: exact modulo 2^64, and several times faster than BigInt. */
const readPair = "const low = a[x + i], high = a[x + i + 1], otherLow = b[y + i], otherHigh = b[y + i + 1];";

/** The upper word of the product of two low words comes from four products of 16-bit halves. */
const prodPair = `${readPair}
  const u = low & 0xffff, uHigh = low >>> 16, v = otherLow & 0xffff, vHigh = otherLow >>> 16;
  const first = uHigh * v + ((u * v) >>> 16);
  const second = u * vHigh + (first & 0xffff);
  const cross = Math.imul(low, otherHigh) + Math.imul(high, otherLow);
  c[z + i] = Math.imul(low, otherLow);
  c[z + i + 1] = uHigh * vHigh + (first >>> 16) + (second >>> 16) + cross;`;

const sumPair = `${readPair}
  c[z + i] = low + otherLow;
  c[z + i + 1] = high + otherHigh + (low + otherLow > 0xffffffff ? 1 : 0);`;

/** `isHighLess` compares the high words, with their sign or without. */
const lesserPair = (isHighLess: string, keepsLeft: "isLess" | "!isLess"): string => `${readPair}
  const isLess = high === otherHigh ? low < otherLow : ${isHighLess};
  c[z + i] = ${keepsLeft} ? low : otherLow;
  c[z + i + 1] = ${keepsLeft} ? high : otherHigh;`;

const logicalPair = (operator: "&&" | "||" | "!=="): string =>
  `c[z + i] = ((a[x + i] | a[x + i + 1]) !== 0) ${operator} ((b[y + i] | b[y + i + 1]) !== 0) ? 1 : 0; c[z + i + 1] = 0;`;

function pairBody(op: NumberOp, isSigned: boolean): string {
  const isHighLess = isSigned ? "(high | 0) < (otherHigh | 0)" : "high < otherHigh";
  switch (op) {
    case "SUM":
      return sumPair;
    case "PROD":
      return prodPair;
    case "MIN":
      return lesserPair(isHighLess, "isLess");
    case "MAX":
      return lesserPair(isHighLess, "!isLess");
    case "LAND":
      return logicalPair("&&");
    case "LOR":
      return logicalPair("||");
    case "LXOR":
      return logicalPair("!==");
  }
}

/** The product of complex numbers by the schoolbook formula, each step rounded by `round`; their sum is that of their halves. */
const prodComplex = (round: "" | "Math.fround"): string => `
  const re = a[x + i], im = a[x + i + 1], otherRe = b[y + i], otherIm = b[y + i + 1];
  c[z + i] = ${round}(${round}(re * otherRe) - ${round}(im * otherIm));
  c[z + i + 1] = ${round}(${round}(re * otherIm) + ${round}(im * otherRe));`;

const made = new Map<string, Kernel | undefined>();

/** Undefined: there is no such operation on elements of that format. */
export function numberKernel(op: NumberOp, format: ElementFormat): Kernel | undefined {
  const key = `${op} ${format}`;
  if (!made.has(key)) made.set(key, make(op, format));
  return made.get(key);
}

function make(op: NumberOp, format: ElementFormat): Kernel | undefined {
  const isOrder = op === "MIN" || op === "MAX";
  const isArithmetic = op === "SUM" || op === "PROD";
  switch (format) {
    case "int8":
    case "int16":
    case "int32":
      return integerKernel(op, format);
    // Operations that ignore the sign treat unsigned elements as signed ones, which V8 computes with faster.
    case "uint8":
      return integerKernel(op, isOrder ? format : "int8");
    case "uint16":
      return integerKernel(op, isOrder ? format : "int16");
    case "uint32":
      return integerKernel(op, isOrder ? format : "int32");
    case "int64":
    case "uint64":
      return kernelLoop("uint32", pairBody(op, format === "int64"), 2);
    case "float32":
    case "float64":
      return isOrder || isArithmetic ? kernelLoop(format, bodies[op]) : undefined;
    case "complex64":
      return isArithmetic ? complexKernel(op, "float32") : undefined;
    case "complex128":
      return isArithmetic ? complexKernel(op, "float64") : undefined;
    default:
      return undefined;
  }
}

const integerKernel = (op: NumberOp, array: NumberArray): Kernel =>
  kernelLoop(array, op === "PROD" && array === "int32" ? prodInt32 : bodies[op]);

function complexKernel(op: "SUM" | "PROD", half: "float32" | "float64"): Kernel {
  if (op === "SUM") return scaled(kernelLoop(half, bodies.SUM), 2);
  return kernelLoop(half, prodComplex(half === "float32" ? "Math.fround" : ""), 2);
}
