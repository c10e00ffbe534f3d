/**
 * Functions of the C library that call through pointers and yet never reach an import inside which a process may be captured.
 * Asyncify cannot know that: it would make them and all their callers (printf!) unwindable, which was nine tenths of the time
 * for a small program. What a stream's pointers lead to writes, seeks or closes, and none of that waits
 * (`core/base/capture-points.ts`); reading may, so what reads is not here. A program can put functions of its own there only by
 * `fopencookie`.
 */
import { archiveMembers } from "./archive.ts";
import { readSymbols } from "./object-symbols.ts";
import type { LinkFile } from "./requests.ts";

const ofStreams: readonly string[] = [
  ...["__fwritex", "fwrite", "__overflow", "vfprintf", "fflush", "fclose", "__stdio_exit", "__toread"],
  ...["__fseeko_unlocked", "__fseeko", "fseek", "__ftello_unlocked", "__ftello", "ftell"],
];
/** Links with each program that calls `fopencookie`. */
const ofCookies = "cookiewrite";

/** Of printf, where no file of the program knows that type: says so and aborts, by way of the program's handler of SIGABRT. */
const ofTheEnd = "long_double_not_supported";

/** Takes the next character for strtod and its like; in a program without these readers always from a text in memory. */
const ofNumbers = "__shgetc";
const numberReaders: readonly string[] = ["vfscanf", "vfwscanf"];

/** The names that are the library's own in a program made of these files. A file that cannot be read could define any name. */
export function libraryNames(files: readonly LinkFile[]): string[] {
  const own = new Set<string>();
  for (const { bytes } of files) {
    for (const object of archiveMembers(bytes) ?? [bytes]) {
      const symbols = readSymbols(object);
      if (symbols === undefined) return [];
      for (const name of symbols.functions) own.add(name);
    }
  }
  return [...ofStreams, ofTheEnd, ofNumbers].filter((name) => !own.has(name));
}

/** Of these names the functions of this program that cannot unwind. */
export function steadyFunctions(names: readonly string[], functions: ReadonlySet<string>): string[] {
  const isOut = (name: string): boolean =>
    name === ofNumbers ? numberReaders.some((reader) => functions.has(reader)) : functions.has(ofCookies);
  return names.filter((name) => functions.has(name) && !isOut(name));
}
