/** The end of a request: its status is written, its bytes are brought where they belong, its record is given back. */
import { ANY_SOURCE, ANY_TAG } from "../../core/base/constants.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import type { MessageOutcome } from "../../core/binding/operations.ts";
import { S_BYTES, S_CANCELLED, S_SOURCE, S_TAG, STATUS_IGNORE } from "../arguments/status.ts";
import { type CRequest, inactive } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import type { Continuation } from "./callbacks.ts";

/** The status of a request that is not active (MPI 5.0 §3.7.3). */
export function putEmptyStatus(ints: Int32Array, status: number): void {
  if (status === STATUS_IGNORE) return;
  const at = status >> 2;
  ints[at + S_SOURCE] = ANY_SOURCE;
  ints[at + S_TAG] = ANY_TAG;
  ints[at + S_BYTES] = 0;
  ints[at + S_CANCELLED] = 0;
}

const outcome: MessageOutcome = { source: 0, tag: 0, bytes: 0, error: 0, cancelled: false };

/** Writes the status of a complete request; returns its error code. The request stays. */
export function putStatus({ operations, ints }: Program, request: CRequest, status: number): number {
  const { record } = request;
  if (status === STATUS_IGNORE) return operations.errorOf(record);
  const at = status >> 2;
  if (request.generalized !== null) {
    const from = request.generalized.status >> 2;
    for (const word of [S_SOURCE, S_TAG, S_BYTES, S_CANCELLED]) ints[at + word] = ints[from + word]!;
    return operations.errorOf(record);
  }
  operations.readOutcome(request.comm.core, record, outcome, request.tellsMessage);
  ints[at + S_SOURCE] = outcome.source;
  ints[at + S_TAG] = outcome.source >= 0 && request.statusTag !== null ? request.statusTag : outcome.tag;
  ints[at + S_BYTES] = outcome.bytes;
  ints[at + S_CANCELLED] = outcome.cancelled ? 1 : 0;
  return outcome.error;
}

/** Ends a complete request: status written, bytes where they belong, its record given back. Returns its error code. */
export function conclude(program: Program, request: CRequest, status: number): number {
  const { operations } = program;
  const { record, after } = request;
  const bytes = operations.bytesOf(record);
  const error = putStatus(program, request, status);
  operations.end(record);
  request.record = inactive;
  request.after = null;
  after?.finish(program, bytes, error);
  return error;
}

/** Gives the program a request: its handle goes to `out`. */
export function handOver({ ints, requests }: Program, request: CRequest, out: number): number {
  request.handle = requests.add(request);
  ints[out >> 2] = request.handle;
  return 0;
}

export function failed(program: Program, request: CRequest, code: number): MpiError {
  program.owner = request.comm;
  const disagreement = request.comm.core.takeDisagreement(code);
  if (disagreement !== null) return disagreement;
  return new MpiError(code, `Cannot complete the request: ${program.errorCodes.stringOf(code)}`);
}

/** For blocking calls: ends their request, which the program never sees; so it cannot be pending. */
export class Concluded implements Continuation {
  private readonly request: CRequest;
  private readonly status: number;

  constructor(request: CRequest, status: number) {
    this.request = request;
    this.status = status;
  }

  resume(program: Program): number {
    const error = conclude(program, this.request, this.status);
    if (error === 0) return 0;
    const code = error === ErrorClass.PROC_FAILED_PENDING ? ErrorClass.PROC_FAILED : error;
    return program.raise(failed(program, this.request, code));
  }
}

saves({ Concluded });
