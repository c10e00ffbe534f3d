/** Two problems whose exact solutions are known: a hill that is carried round a torus, and one that melts in a cold box. */
import type { Problem } from "./slab.ts";

/**
 * sin(2πx) from additions, multiplications and divisions alone: the sines of C and of JavaScript may differ in their last bit, and both languages shall
 * come to the same numbers. A Taylor series for the first quarter of a turn.
 */
export function sine(turns: number): number {
  let x = turns - Math.floor(turns);
  const sign = x < 0.5 ? 1 : -1;
  if (x >= 0.5) x -= 0.5;
  if (x > 0.25) x = 0.5 - x;
  const t = 6.283185307179586 * x;
  let series = 1;
  for (let k = 22; k >= 2; k -= 2) series = 1 - ((t * t) / (k * (k + 1))) * series;
  return sign * t * series;
}

const advectionTime = 0.5;
const speeds = [1, 0.5, 0.75, 0.25];

function hill(x: number): number {
  const height = 0.5 + 0.5 * sine(x);
  return height * height;
}

/** ∂u/∂t + v·∇u = 0, by the scheme of Lax and Wendroff along each axis: second order in space and time. */
export const advection: Problem = {
  name: "advection",
  isZeroAtEdge: false,
  steps: (finest) => 2 ** finest,
  stencil(axis, points, steps) {
    const courant = (speeds[axis]! * advectionTime * points) / steps;
    return [(courant * (courant + 1)) / 2, 1 - courant * courant, (courant * (courant - 1)) / 2];
  },
  start: (_axis, x) => hill(x),
  exact: (axis, x) => hill(x - speeds[axis]! * advectionTime),
};

const heatTime = 1 / 64;

/** ∂u/∂t = Δu, by the explicit scheme along each axis: second order in space. */
export const heat: Problem = {
  name: "heat",
  isZeroAtEdge: true,
  steps: (finest) => 4 ** finest / 16,
  stencil(_axis, points, steps) {
    const share = (heatTime * points * points) / steps;
    return [share, 1 - 2 * share, share];
  },
  start: (_axis, x) => sine(x / 2) + 0.5 * sine(x),
  exact: (_axis, x) =>
    Math.exp(-(Math.PI ** 2) * heatTime) * sine(x / 2) + 0.5 * Math.exp(-4 * Math.PI ** 2 * heatTime) * sine(x),
};
