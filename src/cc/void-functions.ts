/**
 * A `void` function that is called before it is declared. The call declares it as one that returns `int`; clang then reports a
 * conflict at the function itself, gcc only warns. Such a file is compiled once more, with the functions declared before its
 * first line, and the conflicts are reported as warnings.
 */
import { stripVTControlCharacters } from "node:util";

/** Declarations that the file needs; undefined: the file has other errors, or no such function. */
export function missingDeclarations(stderr: string): string | undefined {
  const text = stripVTControlCharacters(stderr);
  const names = [...text.matchAll(/: error: conflicting types for '(\w+)'/g)].map(([, name]) => name!);
  const implicit = text.match(/: note: previous implicit declaration is here/g)?.length ?? 0;
  const errors = text.match(/: (fatal )?error: /g)?.length ?? 0;
  if (names.length === 0 || errors !== names.length || implicit !== names.length) return undefined;
  return names.map((name) => `void ${name}();\n`).join("");
}

/** Clang's messages of the first attempt, for a file that then compiled. Every error in them was a conflict. */
export const asWarnings = (stderr: string): string =>
  stderr.replaceAll("error: ", "warning: ").replace(/^(\d+ warnings? and )?\d+ errors? generated\.\n/m, "");
