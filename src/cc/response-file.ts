/**
 * `@file` on a command line: the words in the file take its place, as in gcc and clang. Words are separated by white space;
 * quotes keep white space, a backslash keeps the next character.
 */

/** Longer chains are files that name each other. */
const depthMax = 10;

/** For an unreadable file the word with the `@` stays. */
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
