/** The three forms in which C has every collective: blocking, non-blocking, persistent. */
import { saves } from "../core/base/saved-classes.ts";
import { onBoard } from "../core/process/collectives.ts";
import { communicatorOf } from "./arguments.ts";
import { Concluded } from "./calls/requests.ts";
import type { Start } from "./collective-arguments.ts";
import { type CCommunicator, CRequest, type Restart } from "./objects.ts";
import type { Program } from "./program.ts";
import { waitThen } from "./waiting.ts";

type Call = (...args: number[]) => number;
/** From C's arguments, without info and request, to the start; the communicator comes first. */
type Arguments = (comm: CCommunicator, ...args: number[]) => Start;

/** A persistent collective: all its starts have the same tag. */
class StartAgain implements Restart {
  private readonly collective: Start;
  private readonly tag: number;

  constructor(collective: Start, tag: number) {
    this.collective = collective;
    this.tag = tag;
  }

  start(program: Program, request: CRequest): void {
    this.collective.begin(program, request, this.tag);
  }
}

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
      start(request.comm, ...args).begin(program, request, onBoard);
      return waitThen(program, request.record, new Concluded(request, 0));
    },
    [`MPI_I${small}`]: (...args) => {
      const request = new CRequest(program.comm(args[parameters]!));
      start(request.comm, ...args).begin(program, request, undefined);
      return hand(request, args[parameters + 1]!);
    },
    [`MPI_${name}_init`]: (...args) => {
      const comm = program.comm(args[parameters]!);
      // When the arguments are good: those who refuse a collective count it, see `refuseCollective`.
      const collective = start(comm, ...args);
      return hand(new CRequest(comm, new StartAgain(collective, comm.core.nextPersistent())), args[parameters + 2]!);
    },
  };
}

/** Blocking, non-blocking and persistent collectives, with counts of either size. */
const collective =
  /^MPI_I?(barrier|bcast|gatherv?|scatterv?|allgatherv?|alltoall[vw]?|reduce|allreduce|reduce_scatter(_block)?|scan|exscan|neighbor_all\w+?)(?<persistent>_init)?(_c)?$/i;

/**
 * A function has refused its arguments. If it is a collective it counts all the same: the other ranks may have called it, and later
 * collectives of this rank must not be taken for it. Whoever waits for this rank in it is told when it asks.
 */
export function refuseCollective(program: Program, name: string, args: readonly (number | bigint)[]): void {
  const found = collective.exec(name);
  const comm = found === null ? null : communicatorOf(program, name, args);
  if (comm === null) return;
  if (found?.groups?.["persistent"] !== undefined) comm.core.nextPersistent();
  else program.operations.refuse(comm.core);
}

saves({ StartAgain });
