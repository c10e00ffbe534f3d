/**
 * Copies words from one array to another. A view for each end and a call of the runtime cost more than the copy of a few words, and leave
 * garbage behind for every message.
 */
const fewWords = 64;

/** Words `from` … of an array, so many, to another one. They do not overlap. */
export function copyWords(words: Int32Array, from: number, into: Int32Array, at: number, count: number): void {
  if (count > fewWords) into.set(words.subarray(from, from + count), at);
  else for (let i = 0; i < count; i++) into[at + i] = words[from + i]!;
}
