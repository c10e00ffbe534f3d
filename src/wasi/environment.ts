/** The environment of a program. */
import type { ProgramFolder } from "./paths.ts";

/**
 * PWD is the folder that the program knows as ".", or "/" without one: relative names begin there
 * (src/cc/support/working-folder.c).
 */
export function environmentOf(
  variables: Readonly<Record<string, string | undefined>>,
  folders: readonly ProgramFolder[],
): string[] {
  const here = folders.find(({ name }) => name === ".")?.path ?? "/";
  return Object.entries({ ...variables, PWD: here }).map(([name, value]) => `${name}=${value}`);
}
