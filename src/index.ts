/**
 * The package's entry: what programs import as "banyan", the API and the way to launch jobs. Bundled into every program, so it
 * holds types, and the way to what the rank already has.
 */
import { createRequire } from "node:module";
import type { Mpi } from "./mpi/mpi.ts";
import type { LaunchOptions, ResumeOptions, RunningJob, ThawOptions } from "./real/job/launch.ts";

export type { MpiError } from "./core/base/mpi-error.ts";
export type { Datatype } from "./core/comm/datatype/datatype.ts";
export type { ProtocolReport } from "./core/ft/definition.ts";
export type { AgreementError } from "./mpi/agreement.ts";
export type { BufferLike, TypedArray, TypedBuffer } from "./mpi/buffers.ts";
export type { Adjacent, CommType, Communicator, Contribution } from "./mpi/communicator.ts";
export type { ErrorFunction, ErrorHandler, InfoLike } from "./mpi/communicator-state.ts";
export type { GeneralRequest, GeneralRequestCallbacks } from "./mpi/general-request.ts";
export type { Group, Range } from "./mpi/group.ts";
export type { Info } from "./mpi/info.ts";
export type { Keyval, KeyvalCallbacks } from "./mpi/keyvals.ts";
export type { Mpi } from "./mpi/mpi.ts";
export type { Op, OpFunction, OpLike } from "./mpi/operations.ts";
export type { From, To } from "./mpi/point-to-point.ts";
export type { Message } from "./mpi/probes.ts";
export type { PersistentRequest, Request, StatusesError } from "./mpi/request.ts";
export type { SpawnedProgram, SpawnOptions } from "./mpi/spawning.ts";
export type { Status } from "./mpi/status.ts";
export type { LaunchOptions, ResumeOptions, RunningJob, ThawOptions } from "./real/job/launch.ts";
export type { JobEvent } from "./real/job/report/job-event.ts";
export type { JobRecoveryReport, JobResult } from "./real/job/report/job-report.ts";

const inRank = (globalThis as Record<symbol, unknown>)[Symbol.for("banyan.mpi")] as Mpi | undefined;

/** MPI, in a rank. Elsewhere any use of it says how to get there. */
export const mpi: Mpi =
  inRank ??
  new Proxy({} as Mpi, {
    get(_target, name) {
      throw new Error(`Cannot use mpi.${String(name)}: this is not a rank; start the program with \`banyan run\``);
    },
  });

/** Loaded on the first call: ranks hardly ever do. */
const service = (): typeof import("./real/job/launch.ts") => createRequire(import.meta.url)("./launch.cjs");

/** Starts a job. */
export function launch(program: string, options?: LaunchOptions): RunningJob {
  return service().launch(program, options);
}

/** Goes on with a job that was frozen to that folder. */
export function thaw(folder: string, options?: ThawOptions): RunningJob {
  return service().thaw(folder, options);
}

/** Goes on with a job of which every process was killed, and that had that folder. */
export function resume(folder: string, options?: ResumeOptions): RunningJob {
  return service().resume(folder, options);
}
