/** Row M1 on the real runtime: messages between two ranks. */
import { testProgram } from "./programs.ts";

testProgram("point-to-point", "M1 point-to-point", [2, [5, 2]], [1, 3]);
