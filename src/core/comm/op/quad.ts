/**
 * Arithmetic of IEEE binary128, C's `long double` on wasm32, on its bits in a BigInt: rounding to nearest, ties to even. Exact
 * and slow (about a microsecond an operation): JavaScript has no such numbers, and programs rarely reduce them.
 */
const fractionBits = 112n;
const hidden = 1n << fractionBits;
const fractionMask = hidden - 1n;
const exponentMax = 0x7fff;
const bias = 16383;
const signBit = 1n << 127n;
const infinity = BigInt(exponentMax) << fractionBits;
export const quadNaN = infinity | (hidden >> 1n);

interface Parts {
  readonly isNegative: boolean;
  /** The value is mantissa × 2^(exponent − bias − 112), also for subnormal numbers. */
  readonly exponent: number;
  readonly mantissa: bigint;
}

function partsOf(bits: bigint): Parts {
  const exponent = Number((bits >> fractionBits) & 0x7fffn);
  const fraction = bits & fractionMask;
  const isNegative = (bits & signBit) !== 0n;
  return exponent === 0
    ? { isNegative, exponent: 1, mantissa: fraction }
    : { isNegative, exponent, mantissa: fraction | hidden };
}

export const isQuadNaN = (bits: bigint): boolean => (bits & ~signBit) > infinity;
const isInfinite = (bits: bigint): boolean => (bits & ~signBit) === infinity;
const isZero = (bits: bigint): boolean => (bits & ~signBit) === 0n;

export function quadSum(left: bigint, right: bigint): bigint {
  if (isQuadNaN(left) || isQuadNaN(right)) return quadNaN;
  if (isInfinite(left)) return isInfinite(right) && left !== right ? quadNaN : left;
  if (isInfinite(right)) return right;
  if (isZero(left) && isZero(right)) return left & right;
  const [a, b] = [partsOf(left), partsOf(right)];
  const [high, low] = a.exponent >= b.exponent ? [a, b] : [b, a];
  // Far below the last bit of the larger number only the presence of bits matters: 240 bits are enough.
  const distance = Math.min(high.exponent - low.exponent, 240);
  const isFar = high.exponent - low.exponent > distance;
  const exponent = high.exponent - distance;
  const lowMantissa = isFar && low.mantissa !== 0n ? 1n : low.mantissa;
  const signed = (part: Parts, mantissa: bigint): bigint => (part.isNegative ? -mantissa : mantissa);
  const sum = signed(high, high.mantissa << BigInt(distance)) + signed(low, lowMantissa);
  return sum < 0n ? rounded(true, exponent, -sum) : rounded(false, exponent, sum);
}

export function quadProd(left: bigint, right: bigint): bigint {
  if (isQuadNaN(left) || isQuadNaN(right)) return quadNaN;
  const sign = (left ^ right) & signBit;
  if (isInfinite(left) || isInfinite(right)) return isZero(left) || isZero(right) ? quadNaN : sign | infinity;
  const [a, b] = [partsOf(left), partsOf(right)];
  return rounded(sign !== 0n, a.exponent + b.exponent - bias - Number(fractionBits), a.mantissa * b.mantissa);
}

/** −1, 0 or 1; −0 is less than +0. Not for NaN. */
export function quadCompare(left: bigint, right: bigint): number {
  const key = (bits: bigint): bigint => (bits & signBit ? -(bits & ~signBit) - 1n : bits);
  const [a, b] = [key(left), key(right)];
  return a < b ? -1 : a > b ? 1 : 0;
}

export const quadNegated = (bits: bigint): bigint => bits ^ signBit;

/** mantissa × 2^(exponent − bias − 112), rounded. */
function rounded(isNegative: boolean, exponent: number, mantissa: bigint): bigint {
  const sign = isNegative ? signBit : 0n;
  if (mantissa === 0n) return sign;
  const surplus = mantissa.toString(2).length - 113;
  const shift = Math.max(surplus, 1 - exponent);
  let result = mantissa;
  if (shift <= 0) result = mantissa << BigInt(-shift);
  else {
    const by = BigInt(shift);
    const half = 1n << (by - 1n);
    const rest = mantissa & ((1n << by) - 1n);
    result = mantissa >> by;
    if (rest > half || (rest === half && (result & 1n) === 1n)) result++;
  }
  // A carry out of the mantissa, and a subnormal number that became normal, change the exponent field by themselves.
  const field = exponent + shift - 1;
  if (field >= exponentMax - 1) return sign | infinity;
  return sign | ((BigInt(field) << fractionBits) + result);
}
