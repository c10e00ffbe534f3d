/** Every command of `banyan`, one file each, loaded on demand: `run` does not pay for the needs of the others. */
import type { CreateCommand } from "./create-command.ts";

interface CommandEntry {
  /** The line in the list of commands. */
  readonly summary: string;
  load(): Promise<CreateCommand>;
}

export const commands: Readonly<Record<string, CommandEntry>> = {
  run: {
    summary: "Run a program (TypeScript, JavaScript, C, C++) on several ranks.",
    load: async () => (await import("./run.ts")).runCommand,
  },
  thaw: {
    summary: "Go on with a job that was frozen.",
    load: async () => (await import("./thaw.ts")).thawCommand,
  },
  resume: {
    summary: "Go on with a job of which every process was killed.",
    load: async () => (await import("./resume.ts")).resumeCommand,
  },
  node: {
    summary: "Offer this machine to a job that runs elsewhere.",
    load: async () => (await import("./node.ts")).nodeCommand,
  },
  checkpoint: {
    summary: "Have a job take checkpoints now.",
    load: async () => (await import("./checkpoint.ts")).checkpointCommand,
  },
  move: {
    summary: "Have the ranks of a node go on elsewhere, away from a machine that is about to go.",
    load: async () => (await import("./move.ts")).moveCommand,
  },
  ps: {
    summary: "List running jobs, or say where the ranks of one are.",
    load: async () => (await import("./ps.ts")).psCommand,
  },
  cc: {
    summary: "Compile and link MPI programs in C, as mpicc does.",
    load: async () => (await import("./cc.ts")).ccCommand,
  },
  "c++": {
    summary: "Compile and link MPI programs in C++, as mpicxx does.",
    load: async () => (await import("./cc.ts")).cxxCommand,
  },
  bench: {
    summary: "Measure speed and size beside Open MPI and MPICH.",
    load: async () => (await import("./bench.ts")).benchCommand,
  },
  "check-determinism": {
    summary: "Say whether the ranks of a program send the same in every run.",
    load: async () => (await import("./check-determinism.ts")).checkDeterminismCommand,
  },
  sim: {
    summary: "Run programs in simulated worlds: random ones, checked, or one in C.",
    load: async () => (await import("./sim.ts")).simCommand,
  },
};
