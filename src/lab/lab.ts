/** What a benchmark works with: the peers that are here, how much to measure, and how to start the same job everywhere. */
import { availableParallelism } from "node:os";
import type { ChildRun } from "./child.ts";
import { launcherPath, programPath, sourcePath } from "./installation.ts";
import { type Measurement, measure, type Start } from "./measure.ts";
import type { Peer } from "./peer.ts";
import { buildPeerProgram } from "./peer-build.ts";
import type { Sample } from "./samples.ts";
import type { Contender } from "./series.ts";

export interface LabOptions {
  readonly peers: readonly Peer[];
  /** Of each program. */
  readonly runs: number;
  /** A fraction of the iterations: shows that everything works; the figures mean little. */
  readonly quick: boolean;
  readonly interrupt: AbortSignal;
  /** Something the reader must know, for example that a peer was left out. */
  readonly remark: (text: string) => void;
  readonly progress: (text: string) => void;
}

/** One program on our side: `src/lab/programs/<program>.ts`. */
export interface OwnJob {
  readonly contender: Contender;
  readonly program: string;
  readonly args: readonly string[];
  readonly ranks: number;
  readonly nodes?: number;
}

/** Its twins: `src/lab/peers/<program>.c`. */
export interface PeersJob {
  readonly program: string;
  readonly ranks: number;
  readonly tcp?: boolean;
  /** Undefined: this peer does not take part. */
  readonly args: (peer: Peer) => readonly string[] | undefined;
}

export interface StartOptions {
  readonly timeLimitMs: number;
  readonly variant?: string;
  readonly read?: (run: ChildRun) => readonly Sample[] | undefined;
}

export class Lab {
  readonly peers: readonly Peer[];
  readonly quick: boolean;
  readonly cores = availableParallelism();
  readonly #options: LabOptions;

  constructor(options: LabOptions) {
    this.#options = options;
    this.peers = options.peers;
    this.quick = options.quick;
  }

  remark(text: string): void {
    this.#options.remark(text);
  }

  own({ contender, program, args, ranks, nodes = 1 }: OwnJob, options: StartOptions): Start {
    const run = ["run", "--quiet", "-n", String(ranks), "--nodes", String(nodes), programPath(program), ...args];
    const command = { file: process.execPath, args: [launcherPath(), ...run] };
    return { contender, command, ...withDefaults(options) };
  }

  /** The same job under every peer that can take part. */
  ofPeers({ program, ranks, tcp = false, args }: PeersJob, options: StartOptions): Start[] {
    return this.peers.flatMap((peer) => {
      const theirs = args(peer);
      if (theirs === undefined) return [];
      const built = buildPeerProgram(peer, sourcePath(program));
      if (built.kind === "unusable") {
        this.remark(`${peer.kind.label} is left out: ${built.why}`);
        return [];
      }
      const command = peer.kind.command(peer.mpirun, { program: built.program, args: theirs, ranks, tcp });
      return [{ contender: peer.kind, command, ...withDefaults(options) }];
    });
  }

  async measure(starts: readonly Start[]): Promise<Measurement> {
    return measure(starts, this.#options);
  }
}

function withDefaults({ variant = "", ...options }: StartOptions): Omit<Start, "contender" | "command"> {
  return { variant, ...options };
}
