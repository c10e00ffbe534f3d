/** Topologies of communicators (MPI 5.0 chapter 8), as both faces look at them and make them. Ranks are never reordered. */
import { ErrorClass, MpiError } from "../base/mpi-error.ts";
import { CartesianTopology } from "../comm/topology/cartesian.ts";
import { DistGraphTopology } from "../comm/topology/dist-graph.ts";
import { GraphTopology } from "../comm/topology/graph.ts";
import type { Topology } from "../comm/topology/topology.ts";
import { Create } from "../process/communicators/create.ts";
import { checkOpen, type NamedCommunicator } from "./checks.ts";

type Kind<T extends Topology> = abstract new (...args: never[]) => T;

function topologyOf<T extends Topology>({ core, label }: NamedCommunicator, kind: Kind<T>, name: string): T {
  const { topology } = core;
  if (topology instanceof kind) return topology;
  throw new MpiError(ErrorClass.TOPOLOGY, `Cannot look at the ${name}: communicator ${label} has none`);
}

export const gridOf = (comm: NamedCommunicator): CartesianTopology => topologyOf(comm, CartesianTopology, "grid");
export const graphOf = (comm: NamedCommunicator): GraphTopology => topologyOf(comm, GraphTopology, "graph");
export const distGraphOf = (comm: NamedCommunicator): DistGraphTopology =>
  topologyOf(comm, DistGraphTopology, "distributed graph");

/** How many ranks a new topology is for. */
export function ranksFor(comm: NamedCommunicator): number {
  const { core, label } = comm;
  checkOpen(comm, "make a topology");
  if (!core.isInter) return core.size;
  throw new MpiError(ErrorClass.COMM, `Cannot make a topology: communicator ${label} is an inter-communicator`);
}

/** Makes a communicator of the first ranks of another, as many as the topology has. */
export function createFirst({ core }: NamedCommunicator, { size }: CartesianTopology | GraphTopology): Create {
  return new Create(core, core.group.incl(Array.from({ length: size }, (_, rank) => rank)));
}
