/** The three forms in which C has every collective: blocking, non-blocking, persistent. */
import { saves } from "../../core/base/saved-classes.ts";
import { onBoard } from "../../core/process/collectives.ts";
import { Concluded } from "../calls/requests.ts";
import { type CCommunicator, CRequest, type Restart } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import { waitThen } from "../waiting/waiting.ts";
import type { Start } from "./collective-arguments.ts";

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
      const tag = comm.core.nextPersistent();
      return hand(new CRequest(comm, new StartAgain(start(comm, ...args), tag)), args[parameters + 2]!);
    },
  };
}

saves({ StartAgain });
