/** Row M5 on the real runtime: datatypes through messages. The types themselves are tested in src/core/comm. */
import { testProgram } from "./programs.ts";

testProgram("datatypes", "M5 datatypes", [2, [3, 2]], [1]);
