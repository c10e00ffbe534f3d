/** Results on disk, as compilers leave them: whole or not at all, a program with the right to be executed. */
import { renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { CannotCompile } from "./client.ts";
import type { Build } from "./command-line.ts";

/** `/dev/null` and pipes are written into; files are replaced. */
export function writeOutput(path: string, bytes: Uint8Array, { executable = false } = {}): void {
  const mode = executable ? 0o777 : 0o666;
  const draft = join(dirname(path), `.${basename(path)}.${process.pid}`);
  try {
    const there = statSync(path, { throwIfNoEntry: false });
    if (there === undefined || there.isFile()) {
      writeFileSync(draft, bytes, { mode });
      renameSync(draft, path);
    } else writeFileSync(path, bytes);
  } catch (error) {
    rmSync(draft, { force: true });
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "its folder does not exist" : message;
    throw new CannotCompile(`Cannot write ${path}: ${why}`);
  }
}

/** The path of a source's result; undefined is standard output. */
export function outputOf({ stage, output, flags }: Build, source: string): string | undefined {
  if (output !== undefined) return output === "-" ? undefined : output;
  const isIr = flags.includes("-emit-llvm");
  const stem = source === "-" ? "-" : basename(source, extname(source));
  switch (stage) {
    case "assembly":
      return `${stem}.${isIr ? "ll" : "s"}`;
    case "object":
    case "link":
      return `${stem}.${isIr ? "bc" : "o"}`;
    case "preprocess":
    case "dependencies":
    case "syntax":
      return undefined;
  }
}

/** The path of the rule for make: beside the object. */
export function rulePathOf({ dependencies, output }: Build, source: string): string {
  const beside = output ?? basename(source);
  return dependencies?.path ?? join(dirname(beside), `${basename(beside, extname(beside))}.d`);
}
