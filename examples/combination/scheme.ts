/**
 * The grids of a combination and their coefficients.
 *
 * A grid has a level vector l: 2^l_k points along axis k. The solution is approximated by a sum of the solutions of many coarse grids, each times its
 * coefficient. Coefficients follow from a downset, a set of levels that has with every level all smaller ones: by inclusion and exclusion every level of
 * the downset counts once in the sum.
 *
 * A scheme is the largest downset: all levels that some l ≥ least with |l − least|₁ = depth reaches, from level 1 on. Its coefficients are the classic ones,
 * (−1)^q · binomial(d − 1, q) for l ≥ least on diagonal q, zero for all other levels (Griebel, Schneider and Zenger, 1992). Those others are the small grids that
 * take part when one of the classic ones is lost.
 */

/** Of one axis each. */
export type Level = readonly number[];

export interface Scheme {
  readonly dims: number;
  /** The least level of every axis that the classic combination has. */
  readonly least: number;
  readonly depth: number;
  /** The level of every axis of the full grid. */
  readonly finest: number;
  /** In lexicographic order: a smaller level is before all that are larger along every axis. */
  readonly levels: readonly Level[];
  /** By the levels of the axes, less 1, in base `finest`: the place in `levels`, −1 outside. */
  readonly places: Int32Array;
}

export function createScheme({ dims, least, depth }: Pick<Scheme, "dims" | "least" | "depth">): Scheme {
  const finest = least + depth;
  const places = new Int32Array(finest ** dims).fill(-1);
  const levels: Level[] = [];
  for (let number = 0; number < places.length; number++) {
    const level = Array.from(
      { length: dims },
      (_, axis) => 1 + (Math.floor(number / finest ** (dims - 1 - axis)) % finest),
    );
    if (level.reduce((sum, l) => sum + Math.max(l - least, 0), 0) > depth) continue;
    places[number] = levels.length;
    levels.push(level);
  }
  return { dims, least, depth, finest, levels, places };
}

/** The place of a level in the scheme; −1: it is outside. */
export function placeOf({ finest, places }: Scheme, level: Level): number {
  let number = 0;
  for (const l of level) {
    if (l > finest) return -1;
    number = number * finest + l - 1;
  }
  return places[number]!;
}

export function totalOf(level: Level): number {
  return level.reduce((sum, l) => sum + l, 0);
}

export function levelText(level: Level): string {
  return `[${level.join(",")}]`;
}

/** 0: the largest grids of the scheme. A grid on diagonal q has 2^−q as many points. */
export function diagonalOf({ dims, least, depth }: Scheme, level: Level): number {
  return depth - (totalOf(level) - dims * least);
}

/** Has the classic combination this grid? */
export function isClassic(scheme: Scheme, level: Level): boolean {
  return level.every((l) => l >= scheme.least) && diagonalOf(scheme, level) < scheme.dims;
}

/** The coefficient of each level, by inclusion and exclusion: Σ_z (−1)^|z|₁ over the corners l + z, z ∈ {0, 1}^d, that are in the downset. */
export function coefficientsOf(scheme: Scheme, isIn: Uint8Array): Int32Array {
  return Int32Array.from(scheme.levels, (level) =>
    cornersOf(scheme, level, isIn).reduce((sum, { sign }) => sum + sign, 0),
  );
}

export interface Corner {
  readonly place: number;
  /** Bit k: a step along axis k. */
  readonly steps: number;
  /** (−1) to the number of steps. */
  readonly sign: number;
}

/** The corners l + z that are in the set. */
export function cornersOf(scheme: Scheme, level: Level, isIn: Uint8Array): Corner[] {
  const corners: Corner[] = [];
  for (let steps = 0; steps < 1 << scheme.dims; steps++) {
    const corner = level.map((l, axis) => l + ((steps >> axis) & 1));
    const place = placeOf(scheme, corner);
    if (place < 0 || isIn[place] === 0) continue;
    corners.push({ place, steps, sign: (totalOf(corner) - totalOf(level)) % 2 === 0 ? 1 : -1 });
  }
  return corners;
}
