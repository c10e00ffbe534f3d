/** The means of a benchmark: the installed peers, how much to measure, and how to start the same job under each contender. */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import type { PeerRuntime } from "./contenders/peer.ts";
import { type BuildOutcome, buildPeerProgram } from "./contenders/peer-build.ts";
import { launcherPath, programPath, sourcePath } from "./installation.ts";
import { type ChildRun, type Command, describeTrouble, runChild } from "./measuring/child.ts";
import { type MeasuredStart, type Measurement, measure } from "./measuring/measure.ts";
import type { Sample } from "./measuring/samples.ts";
import type { Contender } from "./measuring/series.ts";

interface LabOptions {
  readonly peers: readonly PeerRuntime[];
  /** Runs of each program. */
  readonly runs: number;
  /** A fraction of the iterations: shows that everything works; the figures mean little. */
  readonly quick: boolean;
  readonly sizes: Sizes;
  /** The parent of the scratch folder: on the disk that images are written to. */
  readonly folder: string;
  readonly interrupt: AbortSignal;
  /** A remark for the reader, for example that a peer was left out. */
  readonly remark: (text: string) => void;
  readonly progress: (text: string) => void;
}

/** Sizes of some problems that the user may choose. A quick run uses its own. */
export interface Sizes {
  readonly kernelClass: KernelClass;
  readonly imageMiB: number;
  /** The largest simulated world. */
  readonly processesMax: number;
}

/** Class of the NAS Parallel Benchmarks. */
export const kernelClasses = ["S", "W", "A"] as const;
export type KernelClass = (typeof kernelClasses)[number];

/** A program for Banyan: `src/lab/programs/<program>.ts`. */
interface OwnJob {
  readonly contender: Contender;
  readonly program: string;
  readonly args: readonly string[];
  readonly ranks: number;
  readonly nodes?: number;
}

/** A compiled program in C for Banyan. */
interface OwnModuleJob extends Omit<OwnJob, "program" | "nodes"> {
  readonly module: string;
  /** More options of `banyan run`. */
  readonly options?: readonly string[];
}

/** The twins for the peers: `src/lab/peers/<program>.c`, or the given source. */
interface PeersJob {
  readonly program: string;
  readonly source?: string;
  /** Options of their compilers. */
  readonly flags?: readonly string[];
  readonly ranks: number;
  readonly tcp?: boolean;
  /** Undefined: this peer does not take part. */
  readonly args: (peer: PeerRuntime) => readonly string[] | undefined;
}

export interface StartOptions {
  readonly timeLimitMs: number;
  readonly variant?: string;
  readonly read?: (run: ChildRun) => readonly Sample[] | undefined;
}

export class Lab {
  readonly peers: readonly PeerRuntime[];
  readonly quick: boolean;
  readonly sizes: Sizes;
  readonly cores = availableParallelism();
  readonly #options: LabOptions;
  #scratch: string | undefined;

  constructor(options: LabOptions) {
    this.#options = options;
    this.peers = options.peers;
    this.quick = options.quick;
    this.sizes = options.sizes;
  }

  /** A folder for modules, images and caches; removed after the session. */
  get scratch(): string {
    this.#scratch ??= mkdtempSync(join(this.#options.folder, "scratch-"));
    return this.#scratch;
  }

  close(): void {
    if (this.#scratch !== undefined) rmSync(this.#scratch, { recursive: true, force: true });
    this.#scratch = undefined;
  }

  remark(text: string): void {
    this.#options.remark(text);
  }

  /** The user wants no more: whatever is measured is thrown away. */
  get isInterrupted(): boolean {
    return this.#options.interrupt.aborted;
  }

  /** What is measured now. */
  progress(text: string): void {
    this.#options.progress(text);
  }

  own({ contender, program, args, ranks, nodes = 1 }: OwnJob, options: StartOptions): MeasuredStart {
    const run = ["run", "--quiet", "-n", String(ranks), "--nodes", String(nodes), programPath(program), ...args];
    return { contender, command: banyanCommand(run), ...withDefaults(options) };
  }

  ownModule(
    { module, args, ranks, options: more = [], contender }: OwnModuleJob,
    options: StartOptions,
  ): MeasuredStart {
    const command = banyanCommand(["run", "--quiet", "-n", String(ranks), ...more, module, ...args]);
    return { contender, command, ...withDefaults(options) };
  }

  /** `banyan cc`, with its cache, into the scratch folder. */
  async compile(source: string, flags: readonly string[]): Promise<BuildOutcome> {
    const program = join(this.scratch, `${basename(source, ".c")}${flags.join("")}.wasm`);
    this.#options.progress(`compiling ${basename(source)}`);
    // Nothing is measured: however busy the machine is, the program is needed. Ctrl-C ends it.
    const noLimit = Number.POSITIVE_INFINITY;
    const run = await this.run(banyanCommand(["cc", ...flags, source, "-lm", "-o", program]), noLimit);
    const trouble = describeTrouble(run);
    if (trouble === undefined) return { kind: "ready", program };
    return { kind: "unusable", why: `banyan cc cannot compile ${basename(source)}: ${trouble}` };
  }

  /** One run that is not measured. */
  run(command: Command, timeLimitMs: number): Promise<ChildRun> {
    return runChild(command, { timeLimitMs, interrupt: this.#options.interrupt });
  }

  /** The same job under every peer that can take part. */
  ofPeers({ program, source, flags, ranks, tcp = false, args }: PeersJob, options: StartOptions): MeasuredStart[] {
    return this.peers.flatMap((peer) => {
      const theirs = args(peer);
      if (theirs === undefined) return [];
      const built = buildPeerProgram(peer, source ?? sourcePath(program), flags);
      if (built.kind === "unusable") {
        this.remark(`${peer.kind.label} is left out: ${built.why}`);
        return [];
      }
      const command = peer.kind.command(peer.mpirun, { program: built.program, args: theirs, ranks, tcp });
      return [{ contender: peer.kind, command, ...withDefaults(options) }];
    });
  }

  /** `runsMax`: for figures that do not depend on time. */
  async measure(starts: readonly MeasuredStart[], runsMax = Number.POSITIVE_INFINITY): Promise<Measurement> {
    return measure(starts, { ...this.#options, runs: Math.min(this.#options.runs, runsMax) });
  }
}

/** Banyan's own command, as `npx banyan` starts it. */
export function banyanCommand(words: readonly string[], env: Command["env"] = {}): Command {
  return { file: process.execPath, args: [launcherPath(), ...words], env };
}

function withDefaults({ variant = "", ...options }: StartOptions): Omit<MeasuredStart, "contender" | "command"> {
  return { variant, ...options };
}
