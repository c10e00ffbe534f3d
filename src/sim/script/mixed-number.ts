/**
 * A number from numbers, spread over 32 bits: contents of a script follow from the ranks and numbers involved, without being
 * stored. Not splitmix32, although the constants are the same: recorded seeds depend on it.
 */
export function mixed(...numbers: readonly number[]): number {
  let hash = 0x9e3779b9;
  for (const number of numbers) {
    hash = Math.imul(hash ^ number ^ (hash >>> 16), 0x21f0aaad);
    hash = Math.imul(hash ^ (hash >>> 15), 0x735a2d97);
    hash ^= hash >>> 15;
  }
  return hash >>> 0;
}
