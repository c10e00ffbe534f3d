/** The three forms in which C has every collective: blocking, non-blocking, persistent. */
import { onBoard } from "../core/process/collectives.ts";
import { Concluded } from "./calls/requests.ts";
import type { Start } from "./collective-arguments.ts";
import { type CCommunicator, CRequest } from "./objects.ts";
import type { Program } from "./program.ts";
import { waitThen } from "./waiting.ts";

type Call = (...args: number[]) => number;
/** From C's arguments, without info and request, to the start; the communicator comes first. */
type Arguments = (comm: CCommunicator, ...args: number[]) => Start;

/** `name` is without MPI_. All take the communicator behind that many parameters, persistent ones then an info. */
export function collectiveForms(
  program: Program,
  name: string,
  parameters: number,
  start: Arguments,
): Record<string, Call> {
  const small = name[0]!.toLowerCase() + name.slice(1);

  function hand(request: CRequest, out: number): number {
    request.handle = program.requests.add(request);
    program.ints[out >> 2] = request.handle;
    return 0;
  }

  return {
    [`MPI_${name}`]: (...args) => {
      const request = new CRequest(program.comm(args[parameters]!));
      start(request.comm, ...args)(request, onBoard);
      return waitThen(program, request.record, new Concluded(request, 0));
    },
    [`MPI_I${small}`]: (...args) => {
      const request = new CRequest(program.comm(args[parameters]!));
      start(request.comm, ...args)(request, undefined);
      return hand(request, args[parameters + 1]!);
    },
    [`MPI_${name}_init`]: (...args) => {
      const comm = program.comm(args[parameters]!);
      const tag = comm.core.nextPersistent();
      const begin = start(comm, ...args);
      return hand(new CRequest(comm, { start: (_program, request) => begin(request, tag) }), args[parameters + 2]!);
    },
  };
}
