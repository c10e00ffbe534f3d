/** Loads the user's program into the thread of a rank. */
import { readFileSync } from "node:fs";
import Module from "node:module";
import { pathToFileURL } from "node:url";
import type { ProgramForm, ProgramPlace } from "../messages/program-place.ts";

/** Given by the loader, see `rank-code.ts`. */
declare const importModule: (url: string) => Promise<unknown>;

/** Resolves when the program's last statement has been reached. */
export async function runProgram(
  form: ProgramForm,
  { path, bundle }: ProgramPlace,
  { isDebugged }: { readonly isDebugged: boolean },
): Promise<void> {
  // biome-ignore lint/suspicious/noDebugger: `banyan run --debug` stops here; the program begins with the next step.
  if (isDebugged) debugger;
  if (form === "script") runScript(path, bundle.script);
  else await importModule(pathToFileURL(bundle.module).href);
}

/** What `_compile` of Node's CommonJS loader takes; it is the one way to run a text as a file with its source map. */
type Script = Module & { _compile(text: string, filename: string): void };

/** The script believes that it lies where the user's file lies, and that it is what was started. */
function runScript(path: string, bundle: string): void {
  const script = new Module(path) as Script;
  script.filename = path;
  process.mainModule = script;
  script._compile(readFileSync(bundle, "utf8"), path);
}
