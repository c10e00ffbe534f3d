/** Runs of a determinism check, whoever has made them, and the words for what differs between two. */
import { countText } from "../core/base/amounts.ts";
import { type SendDifference, whatDiffers } from "../core/ft/send-record/compare-sends.ts";
import { entryWords, type LoggedSend, type SendEntries } from "../core/ft/send-record/send-log.ts";

/** What the command was given. */
export interface CheckOptions {
  readonly ranks: number;
  readonly nodes: number;
  readonly runs: number;
  readonly first: number;
  readonly memory?: number;
  readonly dir: readonly string[];
}

/** One run. */
export interface CheckedRun {
  /** From 0. */
  readonly run: number;
  readonly seed: number;
  /** Why the run failed, in one line; null: it did not. */
  readonly failure: string | null;
  readonly lastLines: readonly string[];
  /** By rank. */
  readonly sends: readonly SendEntries[];
  /** Texts of calls, by `LoggedSend.call`. */
  readonly calls: readonly string[];
  /** Lines of standard output by rank, as far as they are kept. */
  readonly printed: readonly (readonly string[])[];
  readonly hasReadInput: boolean;
  /** Messages that are kept, and whether there were more. */
  readonly kept: number;
  readonly isCut: boolean;
}

export function keptOf(sends: readonly SendEntries[]): Pick<CheckedRun, "kept" | "isCut"> {
  const kept = sends.reduce((sum, { words }) => sum + words.length / entryWords, 0);
  return { kept, isCut: sends.some(({ words, count }) => count * entryWords > words.length) };
}

/** Makes the run of that number. */
export type MakeRun = (run: number) => Promise<CheckedRun>;

/** What the user is told. */
export function differenceLines(
  program: string,
  difference: SendDifference,
  one: CheckedRun,
  other: CheckedRun,
): string[] {
  const { rank, number, isOfProgram } = difference;
  const which = isOfProgram ? `send ${number} of rank ${rank}` : `a message of a collective that rank ${rank} sends`;
  const title = ({ run, seed }: CheckedRun): string => `run ${run + 1}, seed ${seed}`;
  const width = Math.max(title(one).length, title(other).length);
  const line = (run: CheckedRun, send: LoggedSend | null): string =>
    `  ${title(run).padEnd(width)}  ${send === null ? "nothing: it ends before" : sendText(send, run.calls)}`;
  return [
    `${program} is not send-deterministic: ${which} is not always the same (${whatDiffers(difference)})`,
    line(one, difference.one),
    line(other, difference.other),
  ];
}

function sendText({ dest, tag, bytes, hash, call, context }: LoggedSend, calls: readonly string[]): string {
  const name = calls[call];
  const communicator = context === worldMessages ? "" : `, context ${context}`;
  const hashText = (hash >>> 0).toString(16).padStart(8, "0");
  return `${name === undefined ? "" : `${name} `}to rank ${dest}, tag ${tag}, ${countText(bytes, "byte")}, hash ${hashText}${communicator}`;
}

/** The context of the messages of MPI_COMM_WORLD. */
const worldMessages = 2;

/** Undefined: every rank prints the same, as far as that is known. */
export function firstPrintedDifference(one: CheckedRun, other: CheckedRun): string | undefined {
  for (const [rank, lines] of one.printed.entries()) {
    const others = other.printed[rank] ?? [];
    const index = lines.findIndex((line, i) => i < others.length && line !== others[i]);
    if (index < 0) continue;
    const texts = `"${shortened(lines[index]!)}" in run ${one.run + 1}, "${shortened(others[index]!)}" in run ${other.run + 1}`;
    return `rank ${rank} does not always print the same: line ${index + 1} is ${texts}; where a replica is lost the lines of another follow`;
  }
  return undefined;
}

const shortened = (text: string): string => (text.length <= 60 ? text : `${text.slice(0, 59)}…`);
