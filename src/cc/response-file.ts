/**
 * `@file` on a command line: the file's words take its place, as gcc and clang have it. Words are separated by white space;
 * quotes keep it, a backslash takes the next character as it is.
 */

/** Longer chains are files that name each other. */
const depthMax = 10;

/** A file that cannot be read stays what it is, a word with an `@`. */
export function expandResponseFiles(
  words: readonly string[],
  readText: (path: string) => string | undefined,
  depth = 0,
): string[] {
  return words.flatMap((word) => {
    if (!word.startsWith("@") || depth === depthMax) return [word];
    const text = readText(word.slice(1));
    return text === undefined ? [word] : expandResponseFiles(splitWords(text), readText, depth + 1);
  });
}

export function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char === "\\" && i + 1 < text.length) word = (word ?? "") + text[++i]!;
    else if (quote !== "") {
      if (char === quote) quote = "";
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= "";
    } else if (!/\s/.test(char)) word = (word ?? "") + char;
    else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  if (word !== undefined) words.push(word);
  return words;
}
