/** The combined solution: on the points of the full grid, where it can be compared with the full grid's own solution. */
import type { Level } from "./scheme.ts";

/** The values of a grid, multilinear between its points, at all points of the full grid. */
export function interpolated(values: Float64Array, level: Level, finest: number): Float64Array {
  let result = values;
  let behind = values.length;
  for (const l of level) {
    behind /= 2 ** l;
    result = refined(result, { points: 2 ** l, behind, factor: 2 ** (finest - l) });
  }
  return result;
}

/** More points along one axis. `behind`: points of all axes that follow, which have not been refined; those before have. */
function refined(
  values: Float64Array,
  { points, behind, factor }: { points: number; behind: number; factor: number },
): Float64Array {
  const result = new Float64Array(values.length * factor);
  let to = 0;
  for (let line = 0; line < values.length; line += points * behind) {
    for (let i = 0; i < points; i++) {
      const left = line + i * behind;
      const right = i + 1 < points ? left + behind : line;
      for (let step = 0; step < factor; step++) {
        const share = step / factor;
        for (let j = 0; j < behind; j++) result[to++] = (1 - share) * values[left + j]! + share * values[right + j]!;
      }
    }
  }
  return result;
}

export function add(into: Float64Array, coefficient: number, values: Float64Array): void {
  for (let i = 0; i < into.length; i++) into[i]! += coefficient * values[i]!;
}

/** The root of the mean square. */
export function distance(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i]! - b[i]!) * (a[i]! - b[i]!);
  return Math.sqrt(sum / a.length);
}

/** A sum over the bits of all values: two solutions with the same sum are the same. */
export function bitsOf(values: Float64Array): string {
  let sum = 0x811c9dc5;
  for (const word of new Uint32Array(values.buffer, values.byteOffset, 2 * values.length)) {
    sum = Math.imul(sum ^ word, 0x01000193) >>> 0;
  }
  return sum.toString(16).padStart(8, "0");
}
