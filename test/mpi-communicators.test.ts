/** Row M4 on the real runtime: groups, communicators, inter-communicators, attributes, info. */
import { testProgram } from "./programs.ts";

testProgram("communicators", "M4 communicators", [3], [1, 2, 5, [8, 3]]);
