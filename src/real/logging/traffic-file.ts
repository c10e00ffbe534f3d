/**
 * The bytes that the ranks of a program sent each other in the last run that measured them, for `--sets traffic`: JSON,
 * `{ "bytes": [[0, 80], [40, 0]] }`, a row for each sender.
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describeSystemError } from "../../core/base/system-error.ts";
import type { LoggingReport } from "../../core/ft/logging/report.ts";
import type { Traffic } from "../../core/service/traffic-sets.ts";
import { makeFolder } from "../../trust/make-folder.ts";

/** Of a program with that many ranks, unless a file is named. */
export function trafficFileIn(cacheFolder: string, program: string, ranks: number): string {
  const name = createHash("sha256").update(program).digest("hex").slice(0, 16);
  return join(cacheFolder, "traffic", `${name}-${ranks}.json`);
}

/** Null: there is no file. A text: the problem with it. */
export function readTraffic(file: string, ranks: number): Traffic | string | null {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    return `Cannot read the traffic from ${file}: ${describeSystemError(error)}`;
  }
  const rows = rowsIn(text);
  if (rows === null)
    return `Cannot use the traffic in ${file}: it is not as --sets traffic writes it; remove it to measure again`;
  if (rows.length === ranks) return rows;
  return `Cannot use the traffic in ${file}: it is of ${rows.length} ranks, and the job has ${ranks}; remove it to measure again`;
}

function rowsIn(text: string): Traffic | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const rows: unknown = (value as { bytes?: unknown } | null)?.bytes;
  if (!Array.isArray(rows)) return null;
  const isRow = (row: unknown): boolean =>
    Array.isArray(row) && row.length === rows.length && row.every((bytes) => Number.isFinite(bytes) && bytes >= 0);
  return rows.every(isRow) ? (rows as number[][]) : null;
}

/** The logs of a run in which every rank was a set; a rank that did not come to its end has no row, and nothing is written. */
export function writeTraffic(file: string, { perRank }: LoggingReport): void {
  const bytes = perRank.map((logged) => logged?.bytesTo);
  if (bytes.includes(undefined)) return;
  makeFolder(dirname(file), 0o777);
  writeFileSync(file, `${JSON.stringify({ bytes })}\n`);
}
