/**
 * The imports of module `mpi`: every function of include/mpi.h. Those in calls/ are built; the others raise
 * MPI_ERR_UNSUPPORTED_OPERATION when they are called, naming themselves.
 */
import { capturePoints, SUSPENDED } from "../core/base/capture-points.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { type Check, checkOf } from "./arguments/arguments.ts";
import type { Call } from "./call-table.ts";
import { attributeCalls } from "./calls/attributes.ts";
import { collectiveCalls } from "./calls/collectives.ts";
import { communicatorCalls } from "./calls/communicators.ts";
import { datatypeContentsCalls } from "./calls/datatype-contents.ts";
import { datatypeCalls } from "./calls/datatypes.ts";
import { environmentCalls } from "./calls/environment.ts";
import { exchangeCalls } from "./calls/exchanges.ts";
import { faultToleranceCalls } from "./calls/fault-tolerance.ts";
import { fileAccessCalls } from "./calls/file-access.ts";
import { fileCalls } from "./calls/files.ts";
import { fortranTypeCalls } from "./calls/fortran-types.ts";
import { generalizedRequestCalls } from "./calls/generalized-requests.ts";
import { groupCalls } from "./calls/groups.ts";
import { infoCalls } from "./calls/info.ts";
import { largeCountCalls } from "./calls/large-count.ts";
import { neighborCalls } from "./calls/neighbor-collectives.ts";
import { operationCalls } from "./calls/operations.ts";
import { packingCalls } from "./calls/packing.ts";
import { partitionedCalls } from "./calls/partitioned.ts";
import { pointToPointCalls } from "./calls/point-to-point.ts";
import { probeCalls } from "./calls/probes.ts";
import { requestStatusCalls } from "./calls/request-statuses.ts";
import { requestCalls } from "./calls/requests.ts";
import { spawningCalls } from "./calls/spawning.ts";
import { statusCalls } from "./calls/statuses.ts";
import { topologyCalls } from "./calls/topologies.ts";
import { countRefused } from "./collectives/refused-collective.ts";
import { withParameters } from "./exact-parameters.ts";
import { makeMortal } from "./mortal-calls.ts";
import type { Program } from "./program.ts";

/**
 * Those that must be fast: they give their errors to `raise` themselves, and ask for the check of their arguments only when an
 * address is suspicious (`wordFilter`).
 */
const guarded = new Set(["MPI_Send", "MPI_Recv", "MPI_Wait", "MPI_Waitall", "MPI_Wtime", "MPI_Wtick"]);

/** Those that a program may call before MPI_Init and after MPI_Finalize (MPI 5.0 §11.4). */
const anytime = new Set([
  "MPI_Init",
  "MPI_Init_thread",
  "MPI_Initialized",
  "MPI_Finalized",
  "MPI_Get_version",
  "MPI_Get_library_version",
  "MPI_Abi_get_version",
  "MPI_Wtime",
  "MPI_Wtick",
  "MPI_Error_class",
  "MPI_Error_string",
  "MPI_Abort",
]);

/** `names` are the functions that the program imports. */
export function bind(program: Program, names: readonly string[]): Record<string, Call> {
  const importOf = importsOf(program);
  const bound = Object.fromEntries(names.map((name) => [name, importOf(name)]));
  const isDue = program.operations.simulatedDeath?.isDue ?? null;
  if (isDue !== null) makeMortal(program, bound, { isDue, die: importOf("MPIX_Simulated_death"), isCapturePoint });
  return { ...bound, callback: importOf("callback"), callback_done: importOf("callback_done") };
}

/** Makes one import after the other, as they are asked for. */
export function importsOf(program: Program): (name: string) => Call {
  const calls = callsOf(program);
  program.calls = calls;
  return (name) => {
    const call = calls[name];
    const exact = withParameters(call?.length ?? 0, safely(program, name, call));
    return isCapturePoint.has(name) ? capturePoint(program, exact) : exact;
  };
}

/** What an import does, with its errors raised. */
function safely(program: Program, name: string, call: Call | undefined): Call {
  if (name === "callback") {
    return (next: number) => {
      program.callbacks.next(next);
      return 0;
    };
  }
  if (name === "callback_done") return guard(program, "callback", (value: number) => program.callbacks.done(value));
  if (call === undefined) return guard(program, name, () => unsupported(name));
  return guarded.has(name) ? call : guard(program, name, call, checkOf(program, name));
}

function callsOf(program: Program): Record<string, Call> {
  // Without a prototype: objects of so many properties are made several times faster that way.
  const calls: Record<string, Call> = Object.assign(
    Object.create(null),
    environmentCalls(program),
    pointToPointCalls(program),
    probeCalls(program),
    exchangeCalls(program),
    requestStatusCalls(program),
    generalizedRequestCalls(program),
    partitionedCalls(program),
    requestCalls(program),
    collectiveCalls(program),
    datatypeCalls(program),
    datatypeContentsCalls(program),
    statusCalls(program),
    packingCalls(program),
    operationCalls(program),
    fortranTypeCalls(program),
    communicatorCalls(program),
    spawningCalls(program),
    groupCalls(program),
    attributeCalls(program),
    topologyCalls(program),
    neighborCalls(program),
    infoCalls(program),
    fileCalls(program),
    fileAccessCalls(program),
    faultToleranceCalls(program),
  );
  Object.assign(calls, largeCountCalls(program, calls));
  return calls;
}

const isCapturePoint = new Set(
  capturePoints.filter((name) => name.startsWith("mpi.")).map((name) => name.slice("mpi.".length)),
);

/** An import in which the process can stop, and go on later. */
export function capturePoint(program: Program, call: Call): Call {
  const { suspension } = program;
  const { words, at } = suspension;
  const enter = (...args: unknown[]): number => suspension.enter(program, () => call(...args));
  const isUnusual = (): boolean => words[at] !== 0 || suspension.isRewinding || suspension.givesWay;
  const settled = (answer: number): number => (answer === SUSPENDED ? suspension.unwind() : answer);
  // WebAssembly calls a function of exactly as many parameters as it passes without a detour: those that must be fast.
  switch (call.length) {
    case 2:
      return (a, b) => (isUnusual() ? enter(a, b) : settled(call(a, b)));
    case 3:
      return (a, b, c) => (isUnusual() ? enter(a, b, c) : settled(call(a, b, c)));
    case 6:
      return (a, b, c, d, e, f) => (isUnusual() ? enter(a, b, c, d, e, f) : settled(call(a, b, c, d, e, f)));
    case 7:
      return (a, b, c, d, e, f, g) => (isUnusual() ? enter(a, b, c, d, e, f, g) : settled(call(a, b, c, d, e, f, g)));
    default:
      return (...args) => (isUnusual() ? enter(...args) : settled(call(...args)));
  }
}

/** Everything that a call has in common: it may be called now, its arguments are good, its errors are raised. */
function guard(program: Program, name: string, call: Call, check: Check | null = null): Call {
  const isAnytime = anytime.has(name) || /^MPI_(Info|Status)_/.test(name);
  const isLast = name === "MPI_Finalize";
  return (...args) => {
    if (isLast) program.lowMemory.check(name);
    else program.lowMemory.pass(name);
    program.owner = program.anyone;
    program.call = name;
    let isRunning = false;
    try {
      if (!isAnytime) program.checkRunning(name);
      isRunning = true;
      check?.(args);
      return call(...args);
    } catch (error) {
      if (isRunning && error instanceof MpiError) countRefused(program, name, args);
      return program.raise(error);
    }
  };
}

function unsupported(name: string): never {
  throw new MpiError(ErrorClass.UNSUPPORTED_OPERATION, `Cannot call ${name}: Banyan does not have it yet`);
}
