/** The machine of a measurement: a figure without its machine says little. */
import { availableParallelism, cpus, release, totalmem, type } from "node:os";
import { peerKinds } from "../contenders/peer.ts";

export interface MachineDescription {
  readonly cpu: string;
  /** How many cores this process may use. */
  readonly cores: number;
  readonly architecture: string;
  readonly memoryGb: number;
  readonly kernel: string;
  readonly node: string;
  readonly banyan: string;
  /** The peers' versions by name, null where a peer is missing. */
  readonly peers: Readonly<Record<string, string | null>>;
}

export function describeMachine(peers: MachineDescription["peers"]): MachineDescription {
  return {
    cpu: cpus()[0]?.model.trim() || "unknown",
    cores: availableParallelism(),
    architecture: process.arch,
    memoryGb: Math.round(totalmem() / 1e8) / 10,
    kernel: `${type()} ${release()}`,
    node: process.version,
    banyan: __BANYAN_VERSION__,
    peers,
  };
}

/** The description for people. */
export function hardwareText({ cpu, cores, architecture, memoryGb }: MachineDescription): string {
  return `${cores} × ${cpu} (${architecture}), ${memoryGb} GB`;
}

export function softwareText({ kernel, node, banyan, peers }: MachineDescription): string {
  const versions = peerKinds.flatMap(({ id, label }) => (peers[id] == null ? [] : `${label} ${peers[id]}`));
  return [kernel, `Node ${node}`, `Banyan ${banyan}`, ...versions].join(", ");
}
