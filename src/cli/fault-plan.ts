/** Reads the value of `--faults`: a fault plan (docs/faults.md), or `@` and the name of a file that holds one. */
import { readFileSync } from "node:fs";
import { describeSystemError } from "../core/base/system-error.ts";
import { CommandError } from "./complain.ts";

/** The plan's text. */
export function readFaultPlan(text: string): string {
  if (!text.startsWith("@")) return text;
  const path = text.slice(1);
  if (path === "") {
    throw new CommandError('Cannot read the fault plan: no file is named behind "@"; write --faults @plan.txt', 2);
  }
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    const why = isMissing ? "there is no such file" : describeSystemError(error);
    throw new CommandError(`Cannot read the fault plan ${path}: ${why}`, 2);
  }
}
