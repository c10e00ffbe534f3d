/** The topology of a communicator (MPI 5.0 chapter 8), one of three kinds. */
import type { CartesianTopology } from "./topology-cartesian.ts";
import type { DistGraphTopology } from "./topology-dist-graph.ts";
import type { GraphTopology } from "./topology-graph.ts";

export type Topology = CartesianTopology | GraphTopology | DistGraphTopology;
