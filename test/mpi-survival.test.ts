/** ULFM on the real runtime, failure-free: revoke, agree, shrink in TypeScript programs. */
import { testProgram } from "./programs.ts";

testProgram("survival", "ULFM", [2, [5, 3]], [5, [4, 2]]);
