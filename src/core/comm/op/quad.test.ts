import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../base/testing/properties.ts";
import { isQuadNaN, quadCompare, quadNaN, quadProd, quadSum } from "./quad.ts";

/** A double as a binary128: every double is one exactly. */
function widened(value: number): bigint {
  const bits = new BigUint64Array(Float64Array.of(value).buffer)[0]!;
  const sign = (bits >> 63n) << 127n;
  const exponent = (bits >> 52n) & 0x7ffn;
  const fraction = bits & 0xfffffffffffffn;
  if (exponent === 0x7ffn) return fraction === 0n ? sign | (0x7fffn << 112n) : quadNaN;
  if (exponent !== 0n) return sign | ((exponent - 1023n + 16383n) << 112n) | (fraction << 60n);
  if (fraction === 0n) return sign;
  const shift = BigInt(53 - fraction.toString(2).length);
  return sign | ((16383n - 1022n - shift) << 112n) | (((fraction << shift) & 0xfffffffffffffn) << 60n);
}

const doubles = fc.double();
const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
/** Integers whose sums and products fit 113 bits: both sides are exact. */
const integers = fc.bigInt({ min: -(2n ** 56n), max: 2n ** 56n });

function ofInteger(value: bigint): bigint {
  if (value === 0n) return 0n;
  const magnitude = value < 0n ? -value : value;
  const length = BigInt(magnitude.toString(2).length);
  const sign = value < 0n ? 1n << 127n : 0n;
  return sign | ((16383n + length - 1n) << 112n) | ((magnitude << (113n - length)) & ((1n << 112n) - 1n));
}

test("M5 binary128 is exact where its 113 bits suffice", () => {
  fc.assert(
    fc.property(integers, integers, (a, b) => {
      assert.equal(quadSum(ofInteger(a), ofInteger(b)), ofInteger(a + b));
      const product = quadProd(ofInteger(a), ofInteger(b)) & ~(1n << 127n);
      assert.equal(product, ofInteger(a * b) & ~(1n << 127n));
    }),
    { numRuns: 1000 },
  );
});

test("M5 binary128 orders as doubles do, and treats NaN, infinities and zeros as IEEE 754 says", () => {
  fc.assert(
    fc.property(finite, finite, (a, b) => {
      if (a !== b) assert.equal(quadCompare(widened(a), widened(b)), a < b ? -1 : 1);
    }),
  );
  const [zero, minusZero, infinity] = [widened(0), widened(-0), widened(Number.POSITIVE_INFINITY)];
  assert.equal(quadCompare(minusZero, zero), -1);
  assert.equal(quadSum(zero, minusZero), zero);
  assert.equal(quadSum(minusZero, minusZero), minusZero);
  assert.ok(isQuadNaN(quadSum(infinity, widened(Number.NEGATIVE_INFINITY))));
  assert.ok(isQuadNaN(quadProd(infinity, zero)));
  assert.equal(quadProd(infinity, widened(-2)), widened(Number.NEGATIVE_INFINITY));
  fc.assert(
    fc.property(doubles, doubles, (a, b) => {
      assert.equal(quadSum(widened(a), widened(b)), quadSum(widened(b), widened(a)));
      if (Number.isNaN(a)) assert.ok(isQuadNaN(quadProd(widened(a), widened(b))));
      else assert.equal(quadProd(widened(a), widened(1)), widened(a));
    }),
  );
});

test("M5 binary128 rounds to even, keeps far smaller terms out, overflows and sinks into subnormals", () => {
  const one = widened(1);
  const ulp = (16383n - 112n) << 112n;
  const half = (16383n - 113n) << 112n;
  assert.equal(quadSum(one, ulp), one + 1n);
  assert.equal(quadSum(one, half), one);
  assert.equal(quadSum(one + 1n, half), one + 2n);
  assert.equal(quadSum(quadSum(one, half), 1n), one);
  assert.equal(quadSum(half | 1n, one), one + 1n);
  assert.equal(quadSum(one, 1n | (1n << 127n)), one);
  const largest = (0x7fffn << 112n) - 1n;
  assert.equal(quadSum(largest, largest), 0x7fffn << 112n);
  const least = 1n << 112n;
  assert.equal(quadProd(least, widened(0.5)), least >> 1n);
  assert.equal(quadProd(1n, widened(0.5)), 0n);
  assert.equal(quadProd(1n, widened(0.75)), 1n);
  assert.equal(quadSum(1n, 1n), 2n);
});
