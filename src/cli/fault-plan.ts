/** Texts that a user gives by the name of a file: the value of `--faults`, a fault plan (docs/faults.md) or `@` and such a name; scenarios. */
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
  return read(path, "the fault plan");
}

/** A scenario's text. */
export const readScenario = (path: string): string => read(path, "the scenario");

function read(path: string, what: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    const why = isMissing ? "there is no such file" : describeSystemError(error);
    throw new CommandError(`Cannot read ${what} ${path}: ${why}`, 2);
  }
}
