import assert from "node:assert/strict";
import { it } from "node:test";
import { expandResponseFiles, splitWords } from "./response-file.ts";

it("M6 words of a response file: white space, quotes, backslashes", () => {
  assert.deepEqual(splitWords(`-DA="x y" 'b c'\\ d\n\t"" -I"a\\"b"`), ["-DA=x y", "b c d", "", '-Ia"b']);
  assert.deepEqual(splitWords("  \n"), []);
});

it("M6 @file takes the place of its words, also inside another one; what cannot be read stays", () => {
  const files: Record<string, string> = { a: "-c @b x.c", b: "-O2 -g", loop: "@loop" };
  const expand = (...words: string[]): string[] => expandResponseFiles(words, (path) => files[path]);
  assert.deepEqual(expand("-v", "@a", "@none", "y.c"), ["-v", "-c", "-O2", "-g", "x.c", "@none", "y.c"]);
  assert.deepEqual(expand("@loop"), ["@loop"]);
});
