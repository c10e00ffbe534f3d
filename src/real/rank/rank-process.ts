/** A rank whose program is written in TypeScript: its process, and the API that the program sees. */
import { AwaitedChoices } from "../../core/ft/awaited-choices.ts";
import type { Choices } from "../../core/ft/choices.ts";
import { Mpi } from "../../mpi/mpi.ts";
import { type OutputGate, outputGate } from "../output/output-gate.ts";
import type { ProgramLayer } from "../part-hosts/rank-part.ts";
import { openProcess, type RankOptions } from "../process/open-process.ts";
import type { RankHost } from "../process/rank-host.ts";

interface RankProcess {
  /** The object that programs import as `mpi`. */
  readonly mpi: Mpi;
  readonly host: RankHost;
  /** The choices of a protocol that replays; null: there is no such protocol. */
  readonly choices: Choices | null;
  /** For printed lines and the result: returns when they may leave. */
  readonly mayLeave: OutputGate;
  /** Answers others until the job is over: does not return. */
  serve(): never;
  /** The thread is ending in order: closes everything and returns how many requests are unfinished. */
  finish(): number;
  /** The thread has failed and is ending: closes what it has open, and waits for nobody. */
  close(): void;
}

/** `prepare`: fills the process, if it goes on from somewhere, before the program can see anything of it. */
export function createRank(
  options: RankOptions,
  layer: ProgramLayer | null,
  prepare: (host: RankHost) => void,
): RankProcess {
  const { host, leave, close } = openProcess(options);
  prepare(host);
  const operations = layer?.(host);
  const mpi = new Mpi(host, operations);
  const { choices } = host.process;
  return {
    mpi,
    host,
    choices: choices === null ? null : new AwaitedChoices(choices, (isOver) => host.waitUntil(isOver)),
    mayLeave: outputGate(host.process.protocol, host),
    serve() {
      for (;;) host.waitUntil(() => false);
    },
    finish() {
      mpi.finalize();
      if (operations !== undefined) operations.wait(operations.startFinalBarrier());
      const leaving = leave();
      return leaving.kind === "unfinished" ? leaving.requests : 0;
    },
    close,
  };
}
