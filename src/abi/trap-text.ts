/**
 * What a trap of a program in C says to its author: the engine's words, the functions it happened in, innermost first, and
 * what to look for where the engine's words do not tell.
 */

/** Functions named in a report: enough to find the call, few enough for a line. */
const namesMax = 4;
/** Of the C library's start and ours: they say nothing to the program's author. */
const ours = /^(_start|__main_void|__wasm_call_ctors|asyncify_\w+|banyan_\w+)$/;
/** A function of MPI, which may have called one of the program's own: always named. */
const mpiName = /^P?(MPIX?_\w+)$/;
/** What clang calls main, depending on its parameters. */
const mainNames = /^(__original_main|__main_argc_argv)$/;

const meanings: readonly (readonly [RegExp, string])[] = [
  [
    /function signature mismatch/,
    "a function is called through a pointer whose type has other parameters than the function, or the pointer is null",
  ],
];

/** One line for a trap; undefined: the error is none. */
export function trapText(error: unknown): string | undefined {
  if (error instanceof RangeError && /call stack/.test(error.message)) return endlessRecursion(error);
  if (!(error instanceof WebAssembly.RuntimeError)) return undefined;
  const names = functionsOf(error.stack ?? "");
  const [innermost, ...callers] = names;
  const place = innermost === undefined ? "" : ` in ${innermost}`;
  const way = callers.length === 0 ? "" : `, called by ${callers.join(", ")}`;
  const meaning = meanings.find(([words]) => words.test(error.message))?.[1];
  return `${error.message}${place}${way}${meaning === undefined ? "" : `: ${meaning}`}`;
}

/** Functions that call each other until no stack is left; undefined: they are not the program's. */
function endlessRecursion({ stack = "" }: RangeError): string | undefined {
  const names = [...new Set(functionsOf(stack))];
  if (names.length === 0) return undefined;
  return `no stack is left in ${names.join(", ")}: functions call themselves or each other too deep, or without end`;
}

function functionsOf(stack: string): string[] {
  const names: string[] = [];
  for (const line of stack.split("\n")) {
    const name = /^\s+at (?:.*\.)?(\S+) \(wasm:/.exec(line)?.[1];
    if (name === undefined || ours.test(name) || name.startsWith("wasm-function")) continue;
    names.push(mainNames.test(name) ? "main" : (mpiName.exec(name)?.[1] ?? name));
  }
  return names.filter((name, at) => at < namesMax || mpiName.test(name));
}
