/** Row M3 on the real runtime: collectives of the TypeScript API. Their schedules are tested in src/core/coll. */
import { testProgram } from "./programs.ts";

testProgram("collectives", "M3 blocking collectives", [1, [5, 2]], [2, 3, 5, 8, [8, 3]]);
testProgram("collectives-started", "M3 non-blocking, persistent, inter", [3, [5, 2]], [1, 2, 5, 8, [8, 3]]);
