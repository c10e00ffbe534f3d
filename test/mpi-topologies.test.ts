/** Rows M4 and M3 on the real runtime: topologies and the collectives among their neighbours. */
import { testProgram } from "./programs.ts";

testProgram("topologies", "M4 topologies", [3, [8, 2]], [1, 2, 5]);
