/** The topology of a communicator (MPI 5.0 chapter 8), one of three kinds. */
import type { CartesianTopology } from "./cartesian.ts";
import type { DistGraphTopology } from "./dist-graph.ts";
import type { GraphTopology } from "./graph.ts";

export type Topology = CartesianTopology | GraphTopology | DistGraphTopology;
