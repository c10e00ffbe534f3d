/** Entries of a stream of determinants: words, of which the first is their count. Their meaning: determinant-stream.ts. */
import { assert } from "../../base/assert.ts";

/** Words at the beginning of every entry: their count, the rank, the kind. */
export const determinantHeaderWords = 3;

/** How many words of a part of the stream, which begins with an entry, are of whole entries. */
export function wholeEntries(words: Int32Array): number {
  let at = 0;
  while (at < words.length) {
    const length = words[at]!;
    assert(length >= determinantHeaderWords, `a determinant of ${length} words`);
    if (at + length > words.length) break;
    at += length;
  }
  return at;
}
