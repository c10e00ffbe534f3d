/** One invocation of `banyan bench`: finds the peers, runs the benchmarks in order, shows and keeps the results. */
import { describeSystemError } from "../core/base/system-error.ts";
import type { Benchmark, Finding } from "./benchmark.ts";
import { findPeer, type PeerKind, type PeerRuntime, peerKinds } from "./contenders/peer.ts";
import { goalTable, judgements } from "./goals/goal-table.ts";
import { Lab, type Sizes } from "./lab.ts";
import { describeMachine, hardwareText, softwareText } from "./measuring/machine.ts";
import type { Series } from "./measuring/series.ts";
import { Results } from "./results.ts";

interface SessionOptions {
  readonly benchmarks: readonly Benchmark[];
  readonly runs: number;
  readonly quick: boolean;
  readonly sizes: Sizes;
  /** The folder for results. */
  readonly out: string;
  readonly interrupt: AbortSignal;
  /** A block for standard output. */
  readonly print: (text: string) => void;
  /** A line for standard error. */
  readonly complain: (text: string) => void;
  /** The current activity; each text replaces the last. */
  readonly progress: (text: string) => void;
}

/** The exit code: 1 when a program of Banyan's failed or results could not be written. Missing peers are no failure. */
export async function runSession(options: SessionOptions): Promise<number> {
  const { runs, quick, sizes, out, interrupt, print, complain } = options;
  const peers = availablePeers(complain);
  const machine = describeMachine(versions(peers));
  const results = openResults(out, { date: new Date().toISOString(), machine, quick }, complain);
  if (results === undefined) return 1;
  print(`${hardwareText(machine)}\n${softwareText(machine)}\n${methodText(options)}`);

  const name = { current: "" };
  const progress = (text: string): void => options.progress(`${name.current}: ${text}`);
  const lab = new Lab({ peers, runs, quick, sizes, folder: out, interrupt, remark: complain, progress });
  try {
    return await runBenchmarks(lab, results, name, options);
  } finally {
    lab.close();
  }
}

async function runBenchmarks(
  lab: Lab,
  results: Results,
  name: { current: string },
  options: SessionOptions,
): Promise<number> {
  const { benchmarks, quick, interrupt, print, complain } = options;
  const findings = new Map<string, readonly Series[]>();
  let failed = false;
  for (const benchmark of benchmarks) {
    name.current = benchmark.name;
    const finding = await benchmark.measure(lab);
    options.progress("");
    if (interrupt.aborted) return 1;
    findings.set(benchmark.name, finding.series);
    showFinding(finding, options);
    failed ||= finding.troubles.some(({ contender }) => contender.isOurs);
    const written = keep(results, benchmark.name, finding, complain);
    if (written === undefined) return 1;
    print(`→ ${written.join(", ")}`);
  }
  const judged = judgements(findings);
  if (judged.length > 0) print(`Goals${quick ? ", which a quick run cannot judge" : ""}\n\n${goalTable(judged)}`);
  return failed ? 1 : 0;
}

function availablePeers(complain: (text: string) => void): PeerRuntime[] {
  return peerKinds.flatMap((kind) => {
    const peer = findPeer(kind);
    if (peer === undefined) complain(missingText(kind));
    return peer ?? [];
  });
}

export function missingText({ label, install }: PeerKind): string {
  return `Cannot compare with ${label}: it is not installed here; \`${install}\` installs it on Debian and Ubuntu`;
}

function versions(peers: readonly PeerRuntime[]): Record<string, string | null> {
  return Object.fromEntries(peerKinds.map(({ id }) => [id, peers.find(({ kind }) => kind.id === id)?.version ?? null]));
}

function methodText({ runs, quick }: SessionOptions): string {
  if (quick) return "A quick run: it shows that everything works, its figures mean little.";
  return runs === 1
    ? "One run of each program; ratios of medians"
    : `${runs} runs of each in turn; medians of their medians`;
}

function openResults(
  out: string,
  circumstances: ConstructorParameters<typeof Results>[1],
  complain: (text: string) => void,
): Results | undefined {
  try {
    return new Results(out, circumstances);
  } catch (error) {
    complain(`Cannot write results to ${out}: ${describeSystemError(error)}; name another folder with --out`);
    return undefined;
  }
}

function keep(
  results: Results,
  name: string,
  finding: Finding,
  complain: (text: string) => void,
): string[] | undefined {
  try {
    return results.write(name, finding);
  } catch (error) {
    complain(`Cannot write the results of ${name}: ${describeSystemError(error)}`);
    return undefined;
  }
}

function showFinding({ tables, troubles }: Finding, { print, complain }: SessionOptions): void {
  for (const { caption, text } of tables) print(`${caption}\n\n${text}`);
  for (const { message } of troubles) complain(`Cannot measure to the end: ${message}`);
}
