/** splitmix32 (Steele, Lea and Flood, 2014): add `splitmixStep` to the state for every number, and mix the state. */
export const splitmixStep = 0x9e3779b9;

/** Spreads every bit of a state over 32 bits. */
export function splitmix32(state: number): number {
  let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
