/** Processes that programs in TypeScript start while the job runs. */
import { testProgram } from "./programs.ts";

testProgram("spawn", "M7 §11.8", [2, [3, 2]]);
