/** All that a folder has of a job that was switched off, for the dispatcher that goes on with it (ADR 51). */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describeSystemError } from "../../../core/base/system-error.ts";
import { resumableNames } from "../../../core/ft/protocol-named.ts";
import { type JobState, jobStateFrom } from "../../../core/service/job-state.ts";
import { decodeJournal } from "../../../core/service/journal.ts";
import type { JobOutcome } from "../../../core/service/outcome.ts";
import type { OutputBook } from "../../../core/service/output-book.ts";
import { distrust } from "../../../trust/folder.ts";
import { type InputGiven, readGivenInput } from "./input-file.ts";
import { finishRemoval } from "./job-folder.ts";
import { livingProcesses } from "./job-processes.ts";
import { readOutput } from "./output-file.ts";
import { type ResumableJob, readRun, runIn } from "./resumable-job.ts";

/** What a dispatcher before has left. */
export interface LeftByJob {
  readonly state: JobState;
  /** Where the last whole record of its journal ends. */
  readonly journalBytes: number;
  readonly output: OutputBook;
  readonly input: InputGiven;
  readonly inputBytes: number;
  /** Files whose last record was torn. */
  readonly torn: readonly string[];
}

/** Processes of a job whose dispatcher is gone notice that by themselves, and end. */
const endMsMax = 10_000;
const lookMs = 20;

/** The job, or why it cannot be gone on with: one line. Waits for processes of the job that are just ending. */
export function readResumable(
  folder: string,
): { readonly job: ResumableJob; readonly predecessor: LeftByJob } | string {
  const cannot = `Cannot resume ${folder}`;
  if (!existsSync(folder)) return `${cannot}: there is no such folder`;
  const wrong = distrust(folder);
  if (wrong !== undefined) return `${cannot}: ${wrong}, who could have changed it; copy it to a folder of your own`;
  const left = removalFinished(folder);
  if (left !== "") return `${cannot}: the job has ended well, and its files cannot be removed: ${left}`;
  if (existsSync(join(folder, "job.json"))) return `${cannot}: it holds a frozen job; go on with banyan thaw`;
  if (!existsSync(runIn(folder))) {
    return existsSync(join(folder, "journal"))
      ? `${cannot}: the job had not begun, or was not under --protocol ${resumableNames.join(" or ")}; run it again`
      : `${cannot}: there is no job in it; one that has ended well leaves nothing`;
  }
  const running = stillRunning(folder);
  if (running !== undefined) return `${cannot}: ${running}`;
  try {
    const read = contentsOf(folder);
    return typeof read === "string" ? `${cannot}: ${read}` : read;
  } catch (error) {
    return `${cannot}: a file of it cannot be read: ${describeSystemError(error)}`;
  }
}

/** The obstacle; empty: none. */
function removalFinished(folder: string): string {
  try {
    finishRemoval(folder);
    return "";
  } catch (error) {
    return describeSystemError(error);
  }
}

function contentsOf(folder: string): { readonly job: ResumableJob; readonly predecessor: LeftByJob } | string {
  const job = readRun(folder);
  if (typeof job === "string") return job;
  const bytes = readFileSync(join(folder, "journal"));
  const journal = decodeJournal(bytes);
  if (journal.kind === "damaged") return journal.problem;
  const [began] = journal.records;
  if (began?.kind !== "began" || began.ranks !== job.ranks || began.nodes !== job.nodes) {
    return "its journal is of another job";
  }
  const state = jobStateFrom(journal.records);
  const end = endOf(state.dispatcher.outcome);
  if (end !== "") return end;
  const output = readOutput(folder);
  if (typeof output === "string") return `its output cannot be read: ${output}`;
  const input = readGivenInput(folder);
  if (typeof input === "string") return `its input cannot be read: ${input}`;
  const isTorn = { journal: journal.bytes < bytes.length, output: output.isTorn, input: input.isTorn };
  const torn = Object.entries(isTorn).flatMap(([name, is]) => (is ? [name] : []));
  const predecessor = {
    state,
    journalBytes: journal.bytes,
    output: output.book,
    input: { pieces: input.pieces, isEnded: input.isEnded },
    inputBytes: input.bytes,
    torn,
  };
  return { job, predecessor };
}

/** A job that has failed by itself would fail again. One that was stopped, or whose last lines nobody has seen, goes on. */
function endOf(outcome: JobOutcome | undefined): string {
  switch (outcome?.reason.kind) {
    case undefined:
    case "finished":
    case "interrupted":
    case "timeout":
    case "output-closed":
    case "unusable":
      return "";
    default:
      return `the job has ended by itself, with exit code ${outcome?.code}; run it again`;
  }
}

/** Undefined: nothing of it does. */
function stillRunning(folder: string): string | undefined {
  for (let leftMs = endMsMax; ; leftMs -= lookMs) {
    const { dispatcher, others } = livingProcesses(folder);
    if (dispatcher !== 0) return `the job still runs (process ${dispatcher})`;
    if (others.length === 0) return undefined;
    if (leftMs <= 0) return `its command is gone, but process ${others[0]} of it still runs; end that first`;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lookMs);
  }
}
