/** One run of a C program under certain conditions, with a record of everything that its ranks send and print. */
import { type SendEntries, SendLog } from "../../core/ft/send-record/send-log.ts";
import { SendRecorder } from "../../core/ft/send-record/send-recorder.ts";
import { CWorld, type CWorldOptions, type CWorldOutcome } from "./c-world.ts";
import { conditionsOf } from "./conditions.ts";

interface RecordedRunOptions
  extends Pick<
    CWorldOptions,
    "module" | "ranks" | "nodes" | "args" | "environment" | "files" | "folders" | "newMemory" | "signalName"
  > {
  readonly run: number;
  readonly firstSeed: number;
}

/** Plain data. */
export interface RecordedRun {
  readonly outcome: CWorldOutcome;
  readonly timeNs: number;
  /** By rank. */
  readonly sends: readonly SendEntries[];
  /** The texts that `LoggedSend.call` counts. */
  readonly calls: readonly string[];
  /** By rank: lines of standard output, as far as they are kept. */
  readonly printed: readonly (readonly string[])[];
  /** The last lines that any rank printed, of both streams. */
  readonly lastLines: readonly string[];
  readonly hasReadInput: boolean;
}

/** Messages of all ranks of a run that are kept: some 130 MB. */
const entriesMax = 1 << 22;
const printedBytesMax = 1 << 22;
const lastLinesMax = 10;

export function recordRun({ run, firstSeed, ...options }: RecordedRunOptions): RecordedRun {
  const { ranks } = options;
  const logs = Array.from({ length: ranks }, () => new SendLog(Math.floor(entriesMax / ranks)));
  const calls = new Map<string, number>();
  const printed = logs.map((): string[] => []);
  const lastLines: string[] = [];
  let printedBytes = 0;
  let order = 0;
  let hasReadInput = false;
  const numberOf = (text: string): number => {
    const known = calls.get(text);
    if (known !== undefined) return known;
    calls.set(text, calls.size);
    return calls.size - 1;
  };
  const world: CWorld = new CWorld({
    ...options,
    ...conditionsOf(run, firstSeed, ranks),
    inputWanted: () => {
      hasReadInput = true;
    },
    protocol: (rank) => {
      const witness = { call: () => numberOf(world.processes[rank]!.callText), order: () => order++ };
      return (ports) => new SendRecorder(ports, logs[rank]!, witness);
    },
    print: ({ rank, stream, bytes }) => {
      const line = new TextDecoder().decode(bytes).replace(/\n$/, "");
      lastLines.push(line);
      if (lastLines.length > lastLinesMax) lastLines.shift();
      printedBytes += bytes.length;
      if (stream === 1 && printedBytes <= printedBytesMax) printed[rank]!.push(line);
    },
  });
  const outcome = world.run();
  const sends = logs.map(({ entries }) => entries);
  return { outcome, timeNs: world.nowNs, sends, calls: [...calls.keys()], printed, lastLines, hasReadInput };
}
