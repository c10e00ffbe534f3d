/**
 * A `void` function that is called before it is declared. The call declares it as one that returns `int`; for clang the
 * function itself is a conflict then, for gcc a warning. Such a file is compiled once more, with the functions declared
 * before its first line, and the conflicts are warnings.
 */

/** Declarations that the file needs; undefined: it has other errors, or no such function. */
export function missingDeclarations(stderr: string): string | undefined {
  const names = conflictsIn(stderr);
  const implicit = stderr.match(/note: (\x1b\[[\d;]*m)*previous implicit declaration is here/g)?.length ?? 0;
  const errors = stderr.match(/: (\x1b\[[\d;]*m)*(fatal )?error: /g)?.length ?? 0;
  if (names.length === 0 || errors !== names.length || implicit !== names.length) return undefined;
  return names.map((name) => `void ${name}();\n`).join("");
}

const conflictsIn = (stderr: string): string[] =>
  [...stderr.matchAll(/error: (?:\x1b\[[\d;]*m)*conflicting types for '(\w+)'/g)].map(([, name]) => name!);

/** What clang said of the file before, when it has compiled after all. */
export const asWarnings = (stderr: string): string =>
  stderr
    .replaceAll(/error: ((?:\x1b\[[\d;]*m)*conflicting types for)/g, "warning: $1")
    .replace(/^\d+ warnings? and \d+ errors? generated\.\n|^\d+ errors? generated\.\n/m, "");
