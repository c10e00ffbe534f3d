/**
 * What is written of a job that can be resumed (`run.json`, ADR 51): the job as it was started, in JSON that people can read. Written when its
 * program is there; a folder without it holds no such job. It comes from a disk: nothing of it is believed.
 */
import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import {
  dictionary,
  finite,
  flag,
  list,
  object,
  opaque,
  orNull,
  type Shape,
  text,
  whole,
  word,
} from "../../../core/base/value-shape.ts";
import type { OptionValues } from "../../../core/ft/option.ts";
import { syncFolder } from "../../disk/sync-folder.ts";
import type { Folder, ProgramForm } from "../../messages/program-place.ts";
import { programsIn } from "./job-folder.ts";

/** 2: a rank in C makes a choice before its program begins (ADR 88). */
const runFormat = 2;
const ranksMax = 4096;

export interface ResumableJob {
  readonly format: number;
  /** The version of Banyan that wrote it: another one might replay its messages in another way. */
  readonly version: string;
  /** As the program knows itself. */
  readonly program: string;
  readonly language: "c" | "typescript";
  readonly form: ProgramForm;
  /** Files that the program imports where they are. */
  readonly packages: readonly string[];
  /** SHA-256 of the program's file in the folder. */
  readonly checksum: string;
  readonly args: readonly string[];
  readonly others: readonly { readonly program: string; readonly args: readonly string[]; readonly ranks: number }[];
  readonly ranks: number;
  readonly nodes: number;
  readonly placement: readonly number[];
  readonly nodeMap: readonly number[];
  readonly setOf: readonly number[];
  readonly memoryMb: number;
  readonly heapMb: number;
  readonly folders: readonly Folder[];
  readonly environment: Readonly<Record<string, string>> | null;
  readonly protocol: string;
  readonly protocolOptions: OptionValues;
  /** The fault plan; empty: none. */
  readonly faults: string;
  readonly keepSuspects: boolean;
  readonly heartbeatMs: number;
  readonly patienceMs: number;
  readonly label: boolean;
  readonly outputFolder: string;
  /** Of random numbers. */
  readonly seed: number;
  /** In milliseconds since 1970. */
  readonly beganMs: number;
  /** The folder of that run, which nobody may have removed. */
  readonly folder: string;
}

const number = whole(0, Number.MAX_SAFE_INTEGER);
const rank = whole(0, ranksMax - 1);
const path: Shape<string> = (value) =>
  typeof value === "string" && isAbsolute(value) && !value.includes("\0") ? "" : "is no whole path";
const words = list(text);

const shape = object<ResumableJob>({
  format: number,
  version: text,
  program: text,
  language: word("c", "typescript"),
  form: word("script", "module", "wasm"),
  packages: words,
  checksum: text,
  args: words,
  others: list(object({ program: text, args: words, ranks: whole(1, ranksMax) })),
  ranks: whole(1, ranksMax),
  nodes: whole(1, ranksMax),
  placement: list(rank),
  nodeMap: list(rank),
  setOf: list(rank),
  memoryMb: whole(16, 1 << 20),
  heapMb: whole(0, 1 << 20),
  folders: list(object<Folder>({ name: text, path })),
  environment: orNull(dictionary(text)),
  protocol: text,
  protocolOptions: dictionary(opaque),
  faults: text,
  keepSuspects: flag,
  heartbeatMs: whole(1, 60_000),
  patienceMs: finite,
  label: flag,
  outputFolder: text,
  seed: whole(-(2 ** 31), 2 ** 31 - 1),
  beganMs: finite,
  folder: path,
});

export const runIn = (folder: string): string => join(folder, "run.json");

/** All of it or, if the process is killed meanwhile, nothing. Throws the system's errors. */
export function writeRun(folder: string, job: Omit<ResumableJob, "format" | "version" | "checksum">): void {
  const file = programsIn(folder)[job.form];
  const checksum = checksumOf(file);
  const descriptor = openSync(file, "r+");
  fsyncSync(descriptor);
  closeSync(descriptor);
  const whole: ResumableJob = { format: runFormat, version: __BANYAN_VERSION__, checksum, ...job };
  const part = `${runIn(folder)}.new`;
  writeFileSync(part, `${JSON.stringify(whole, undefined, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(part, runIn(folder));
  syncFolder(folder);
}

/** The job, or what is wrong with it. Throws the system's errors. */
export function readRun(folder: string): ResumableJob | string {
  const value = parsed(readFileSync(runIn(folder), "utf8"));
  const { format, version } = (value ?? {}) as Partial<ResumableJob>;
  if (typeof format === "number" && (format !== runFormat || version !== __BANYAN_VERSION__)) {
    return `it was started by another version of Banyan (${version}, this is ${__BANYAN_VERSION__})`;
  }
  const wrong = shape(value);
  if (wrong !== "") return `its run.json ${wrong}`;
  const job = value as ResumableJob;
  const { ranks, nodes, placement, nodeMap, setOf, form } = job;
  const areComplete = placement.length >= ranks && nodeMap.length >= ranks && setOf.length === ranks;
  if (!areComplete || nodes > ranks || placement.some((node) => node >= nodes)) {
    return "its run.json is not as a run writes it";
  }
  const file = programsIn(folder)[form];
  const isWhole = checksumOf(file) === job.checksum;
  return isWhole ? job : `its program (${file.slice(folder.length + 1)}) is not the one that ran`;
}

const checksumOf = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex");

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
