/** Reads what stands behind `--faults`: a fault plan (docs/faults.md), or `@` and the name of a file that holds one. */
import { readFileSync } from "node:fs";
import { checkPlan, type JobSize } from "../core/fault/check.ts";
import { parsePlan } from "../core/fault/parse.ts";
import type { FaultPlan } from "../core/fault/plan.ts";
import { describeSystemError } from "../real/service/system-error.ts";

/** The plan, checked against the job, or why it cannot be used, in one line. */
export function readFaultPlan(text: string, job: JobSize): FaultPlan | string {
  const read = text.startsWith("@") ? readPlanFile(text.slice(1)) : { text };
  if (typeof read === "string") return read;
  const plan = parsePlan(read.text);
  return typeof plan === "string" ? plan : (checkPlan(plan, job) ?? plan);
}

function readPlanFile(path: string): { readonly text: string } | string {
  if (path === "") return 'Cannot read the fault plan: no file is named behind "@"; write --faults @plan.txt';
  try {
    return { text: readFileSync(path, "utf8") };
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    return `Cannot read the fault plan ${path}: ${isMissing ? "there is no such file" : describeSystemError(error)}`;
  }
}
