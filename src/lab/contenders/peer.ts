/**
 * The MPI libraries to compare with: how each is found, named, installed and started. Nothing is installed here; a missing peer
 * is left out, and the bench prints how to get it.
 */
import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import type { Command } from "../measuring/child.ts";
import type { Contender } from "../measuring/series.ts";

export interface PeerKind extends Contender {
  /** The command that installs it on Debian and Ubuntu. */
  readonly install: string;
  /** Debian's names first, so that both libraries can be installed; then the plain names, which only one of them can have. */
  readonly programs: readonly { readonly mpirun: string; readonly mpicc: string }[];
  /** Matches the output of `mpirun --version`, with the version as its group. */
  readonly version: RegExp;
  command(mpirun: string, job: PeerJob): Command;
}

export interface PeerRuntime {
  readonly kind: PeerKind;
  readonly mpirun: string;
  readonly mpicc: string;
  readonly version: string;
}

interface PeerJob {
  /** The compiled program. */
  readonly program: string;
  readonly args: readonly string[];
  readonly ranks: number;
  /** No shared memory between ranks, as if each had a machine of its own. */
  readonly tcp: boolean;
}

const openMpi: PeerKind = {
  id: "openmpi",
  label: "Open MPI",
  isOurs: false,
  install: "apt-get install openmpi-bin libopenmpi-dev",
  programs: [
    { mpirun: "mpirun.openmpi", mpicc: "mpicc.openmpi" },
    { mpirun: "mpirun", mpicc: "mpicc" },
  ],
  version: /(?:Open MPI|OpenRTE)\)? v?(\d[\w.]*)/,
  command: (mpirun, { program, args, ranks, tcp }) => ({
    file: mpirun,
    args: [
      ...(process.getuid?.() === 0 ? ["--allow-run-as-root"] : []),
      ...(needsOversubscribe(ranks) ? ["--oversubscribe"] : []),
      ...(tcp ? ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"] : []),
      ...["-n", String(ranks), program, ...args],
    ],
  }),
};

const mpich: PeerKind = {
  id: "mpich",
  label: "MPICH",
  isOurs: false,
  install: "apt-get install mpich libmpich-dev",
  programs: [
    { mpirun: "mpirun.mpich", mpicc: "mpicc.mpich" },
    { mpirun: "mpirun", mpicc: "mpicc" },
  ],
  version: /HYDRA[\s\S]*?Version:\s+(\d[\w.]*)/,
  command: (mpirun, { program, args, ranks, tcp }) => ({
    file: mpirun,
    args: ["-n", String(ranks), program, ...args],
    // The first variable closes MPICH's own shared memory; the others leave only sockets to UCX or libfabric.
    ...(tcp ? { env: { MPIR_CVAR_NOLOCAL: "1", UCX_TLS: "tcp,self", FI_PROVIDER: "tcp" } } : {}),
  }),
};

/** Every known peer, in the order of columns and legends. */
export const peerKinds: readonly PeerKind[] = [openMpi, mpich];

const askMsMax = 10_000;

/** Undefined when the peer, or its compiler, is not installed. `path` is the search path for programs. */
export function findPeer(kind: PeerKind, path = process.env["PATH"] ?? ""): PeerRuntime | undefined {
  const env = { ...process.env, PATH: path };
  for (const { mpirun, mpicc } of kind.programs) {
    const asked = spawnSync(mpirun, ["--version"], { env, encoding: "utf8", timeout: askMsMax });
    const version = kind.version.exec(asked.stdout ?? "")?.[1];
    if (version === undefined) continue;
    if (spawnSync(mpicc, ["--version"], { env, timeout: askMsMax }).status !== 0) continue;
    return { kind, mpirun, mpicc, version };
  }
  return undefined;
}

/** Open MPI counts cores, not threads of a core, and without the flag it refuses to start more ranks than that. */
function needsOversubscribe(ranks: number): boolean {
  const cores = availableParallelism();
  return ranks > cores || (ranks > 2 && ranks > cores / 2);
}
