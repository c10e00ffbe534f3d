/**
 * Bits of a memory that change by themselves. Most of a program's memory has never been used, and a flip there is none that anybody could
 * notice: bits are drawn from pages that are not empty. The same memory and the same seed give the same bits.
 */
import { Draws } from "./draws.ts";

const pageBytes = 4096;

/** The places of those bits, counted from the start of the memory. */
export function flipMemory(memory: Uint8Array, bits: number, seed: number): number[] {
  const pages = usedPages(memory);
  if (pages.length === 0) return [];
  const draws = new Draws(seed);
  const flipped = new Set<number>();
  const most = Math.min(bits, pages.length * pageBytes * 8);
  while (flipped.size < most) {
    const place = draws.pick(pages) * pageBytes * 8 + Math.floor(draws.unit() * pageBytes * 8);
    if (flipped.has(place)) continue;
    flipped.add(place);
    // The program may be writing there: another thread's store to the same byte is lost or not, as with a real flip.
    memory[place >> 3] = memory[place >> 3]! ^ (1 << (place & 7));
  }
  return [...flipped];
}

function usedPages(memory: Uint8Array): number[] {
  const words = new Int32Array(memory.buffer, memory.byteOffset, memory.byteLength >> 2);
  const pageWords = pageBytes / 4;
  const used: number[] = [];
  for (let page = 0; page * pageWords < words.length; page++) {
    const end = (page + 1) * pageWords;
    let at = page * pageWords;
    while (at < end && words[at] === 0) at++;
    if (at < end) used.push(page);
  }
  return used;
}
