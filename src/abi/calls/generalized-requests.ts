/** Generalized requests: MPI 5.0 §13.2. How they are completed is in waiting/generalized-requests.ts and requests.ts. */
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { ReleaseScratch } from "../arguments/buffers.ts";
import { statusBytes } from "../arguments/status.ts";
import { type CallTable, callsOf } from "../call-table.ts";
import { CRequest } from "../handles/objects.ts";
import { type Program, REQUEST_NULL } from "../program.ts";
import { CallKind, type Continuation } from "../waiting/callbacks.ts";
import { conclude, handOver, putEmptyStatus } from "../waiting/conclude-requests.ts";
import { codeOf } from "../waiting/generalized-requests.ts";

/** The free function of a request has been called: the request goes. */
class FreedRequest implements Continuation {
  private readonly request: CRequest;

  constructor(request: CRequest) {
    this.request = request;
  }

  resume(program: Program, result: number): number {
    conclude(program, this.request, 0);
    program.requests.remove(this.request.handle);
    return answer(program, result, "free");
  }
}

class CancelledRequest implements Continuation {
  resume(program: Program, result: number): number {
    return answer(program, result, "cancel");
  }
}

/** What the program's function said is what the MPI call says. */
function answer(program: Program, result: number, verb: string): number {
  const code = codeOf(result);
  if (code === ErrorClass.SUCCESS) return 0;
  program.owner = program.anyone;
  throw new MpiError(code, `Cannot ${verb} the generalized request: its ${verb} function gave error ${result}`);
}

function callFree(program: Program, request: CRequest): number {
  const { free, extraState } = request.generalized!;
  return program.callbacks.call(CallKind.REQUEST_FREE, free, [extraState], new FreedRequest(request));
}

/** MPI_Request_free: the free function is called when the operation is complete, now or later. */
export function freeGeneralized(program: Program, request: CRequest, handleAt: number): number {
  program.ints[handleAt >> 2] = REQUEST_NULL;
  if (program.operations.isComplete(request.record)) return callFree(program, request);
  request.generalized!.isUnwanted = true;
  return 0;
}

/** MPI_Cancel: the program's function decides, and is told whether the operation is complete. */
export function cancelGeneralized(program: Program, request: CRequest): number {
  const { cancel, extraState } = request.generalized!;
  const isComplete = program.operations.isComplete(request.record) ? 1 : 0;
  return program.callbacks.call(CallKind.REQUEST_CANCEL, cancel, [extraState, isComplete], new CancelledRequest());
}

const table: CallTable = {
  MPI_Grequest_start(program, query: number, free: number, cancel: number, extraState: number, out: number) {
    const request = new CRequest(program.self);
    const status = program.memory.allocate(statusBytes);
    putEmptyStatus(program.ints, status);
    request.record = program.operations.startOwn();
    request.after = new ReleaseScratch(status);
    request.generalized = { query, free, cancel, extraState, status, isUnwanted: false };
    return handOver(program, request, out);
  },
  MPI_Grequest_complete(program, handle: number) {
    const request = program.requests.get(handle);
    if (request.generalized === null || program.operations.isComplete(request.record)) {
      const state = request.generalized === null ? "it is no generalized request" : "it is complete already";
      throw new MpiError(ErrorClass.REQUEST, `Cannot complete the request: ${state}`);
    }
    program.operations.completeOwn(request.record);
    return request.generalized.isUnwanted ? callFree(program, request) : 0;
  },
};

export const generalizedRequestCalls = (program: Program) => callsOf(program, table);

saves({ FreedRequest, CancelledRequest });
