/** A rank whose program is written in TypeScript: its process, and the API that the program sees. */
import { Mpi } from "../../mpi/mpi.ts";
import { openProcess, type RankOptions } from "../process/open-process.ts";

export interface RankProcess {
  /** What programs import as `mpi`. */
  readonly mpi: object;
  /** The thread is ending in order: closes everything and returns how many requests are unfinished. */
  finish(): number;
  /** The thread has failed and is ending: closes what it has open, and waits for nobody. */
  close(): void;
}

export function createRank(options: RankOptions): RankProcess {
  const { host, leave, close } = openProcess(options);
  const mpi = new Mpi(host);
  return {
    mpi,
    finish() {
      mpi.finalize();
      const leaving = leave();
      return leaving.kind === "unfinished" ? leaving.requests : 0;
    },
    close,
  };
}
