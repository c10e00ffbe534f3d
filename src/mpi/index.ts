/** What programs import as "banyan". */
import { createRequire } from "node:module";
import type { LaunchOptions, RunningJob } from "../real/service/launch.ts";
import type { Mpi } from "./mpi.ts";

const inRank = (globalThis as Record<symbol, unknown>)[Symbol.for("banyan.mpi")] as Mpi | undefined;

/** MPI, in a rank. Elsewhere any use of it says how to get there. */
export const mpi: Mpi =
  inRank ??
  new Proxy({} as Mpi, {
    get(_target, name) {
      throw new Error(`Cannot use mpi.${String(name)}: this is not a rank; start the program with \`banyan run\``);
    },
  });

/** Starts a job. Loaded on the first call: ranks hardly ever do. */
export function launch(program: string, options?: LaunchOptions): RunningJob {
  const loaded = createRequire(import.meta.url)("./launch.cjs") as typeof import("../real/service/launch.ts");
  return loaded.launch(program, options);
}
