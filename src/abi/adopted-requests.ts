/**
 * Requests that a data plane has begun become the engine's before the engine does anything for the program (core/p2p/light-requests.ts): those
 * that wait are posted in their order, those that are over are complete requests with their statuses, and all keep their handles. So no
 * call, and no image, ever meets a request of the plane.
 */
import { assert } from "../core/base/assert.ts";
import { type LightRequest, LightRequests } from "../core/p2p/light-requests.ts";
import type { Call } from "./call-table.ts";
import { startReceive } from "./calls/point-to-point.ts";
import { withParameters } from "./exact-parameters.ts";
import { handleOf, Kind } from "./handles/handles.ts";
import { CRequest } from "./handles/objects.ts";
import type { Program } from "./program.ts";

/** The handle of the first request of a plane. */
export const firstLightRequest = handleOf(Kind.REQUEST, 0);

/** Calls that have to do with no request and no message: programs make them while requests are open. If one of them stops, `Suspension` takes care. */
const unconcerned = new Set([
  "MPI_Wtime",
  "MPI_Wtick",
  "MPI_Comm_rank",
  "MPI_Comm_size",
  "MPI_Get_count",
  "MPI_Get_address",
  "MPI_Type_size",
  "MPI_Initialized",
  "MPI_Finalized",
]);

/**
 * Calls that name no request. A receive that waits comes before what they do; requests that are over are none of their business, and are adopted only
 * if the process stops in the call.
 */
const namesNone = new Set([
  ...["MPI_Send", "MPI_Recv", "MPI_Sendrecv", "restOfExchange", "MPI_Isend", "MPI_Irecv"],
  ...["MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce"],
]);

/** Imports of a program, changed: each takes over what its data plane has begun. */
export function adoptBefore<T extends Readonly<Record<string, Call>>>(
  program: Program,
  light: LightRequests,
  imports: T,
): T {
  program.requests.shareWith(light);
  const adopt = (): void => adoptAll(program, light);
  program.suspension.beforeUnwinding = adopt;
  const changed = Object.entries(imports).map(([name, call]): [string, Call] => {
    if (unconcerned.has(name)) return [name, call];
    const [one, other] = namesNone.has(name) ? LightRequests.pending : LightRequests.any;
    return [name, after({ words: light.words, one, other, adopt }, call)];
  });
  return Object.fromEntries(changed) as T;
}

interface Adoption {
  /** There is something to adopt if one of two words is not 0. */
  readonly words: Int32Array;
  readonly one: number;
  readonly other: number;
  adopt(): void;
}

/**
 * As in binding.ts: WebAssembly calls a function of exactly as many parameters as it passes without a detour. Most calls find nothing to adopt, and
 * many are interpreted: so two words are looked at, and nothing is called.
 */
function after({ words, one, other, adopt }: Adoption, call: Call): Call {
  switch (call.length) {
    case 2:
      return (a, b) => {
        if ((words[one]! | words[other]!) !== 0) adopt();
        return call(a, b);
      };
    case 3:
      return (a, b, c) => {
        if ((words[one]! | words[other]!) !== 0) adopt();
        return call(a, b, c);
      };
    case 6:
      return (a, b, c, d, e, f) => {
        if ((words[one]! | words[other]!) !== 0) adopt();
        return call(a, b, c, d, e, f);
      };
    case 7:
      return (a, b, c, d, e, f, g) => {
        if ((words[one]! | words[other]!) !== 0) adopt();
        return call(a, b, c, d, e, f, g);
      };
    default:
      return withParameters(call.length, (...args) => {
        if ((words[one]! | words[other]!) !== 0) adopt();
        return call(...args);
      });
  }
}

function adoptAll(program: Program, light: LightRequests): void {
  const { requests } = program;
  if (light.isUnknown) light.know((place) => requests.find(firstLightRequest + place) !== undefined);
  if (light.count === 0) return;
  for (const request of light.adopt()) adopt(program, request);
}

function adopt(program: Program, light: LightRequest): void {
  const { kind, place, communicator, buffer, count, source, tag, bytes, number } = light;
  const { operations, process, requests } = program;
  const comm = program.communicators.find(communicator);
  assert(comm !== undefined, "a communicator is freed by a call, which has adopted its requests before");
  const request = new CRequest(comm);
  request.handle = firstLightRequest + place;
  process.pass.adopting = number;
  if (kind === "pending") {
    startReceive(program, request, { buffer, count, type: program.committed(light.type), peer: source, tag });
  } else if (kind === "received") request.record = operations.startReceived(comm.core, source, tag, bytes);
  else request.record = operations.startSent();
  process.pass.adopting = 0;
  requests.put(request.handle, request);
}
