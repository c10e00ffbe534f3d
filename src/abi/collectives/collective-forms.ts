/** The three forms in which C has every collective: blocking, non-blocking, persistent. */
import { saves } from "../../core/base/saved-classes.ts";
import type { Call } from "../call-table.ts";
import { type CCommunicator, CRequest, type Restart } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import { passOpens } from "../show-to-plane.ts";
import { Concluded, handOver } from "../waiting/conclude-requests.ts";
import { waitThen } from "../waiting/waiting.ts";
import type { Start } from "./collective-arguments.ts";

/** From C's arguments, without info and request, to the start. */
type Arguments = (program: Program, comm: CCommunicator, ...args: CollectiveArguments) => Start;
/** As many as the collective has; the longest has nine in front of its communicator. */
type CollectiveArguments = [
  ...[number, number, number, number, number, number, number, number, number],
  ...rest: number[],
];
/** Names without MPI_, and the number of parameters in front of the communicator. Persistent forms have an info behind it. */
export type CollectiveTable = readonly (readonly [name: string, parameters: number, start: Arguments])[];

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

/** The functions of a table for one program. */
export function collectiveCallsOf(program: Program, table: CollectiveTable): Record<string, Call> {
  return Object.assign({}, ...table.map(([name, parameters, start]) => formsOf(program, name, parameters, start)));
}

function formsOf(program: Program, name: string, parameters: number, start: Arguments): Record<string, Call> {
  const small = name[0]!.toLowerCase() + name.slice(1);
  return {
    [`MPI_${name}`]: (...args: CollectiveArguments) => {
      const request = new CRequest(program.comm(args[parameters]!));
      start(program, request.comm, ...args).begin(program, request, "blocking");
      const answer = waitThen(program, request.record, new Concluded(request, 0));
      passOpens(program, request.comm);
      return answer;
    },
    [`MPI_I${small}`]: (...args: CollectiveArguments) => {
      const request = new CRequest(program.comm(args[parameters]!));
      start(program, request.comm, ...args).begin(program, request, "nonblocking");
      return handOver(program, request, args[parameters + 1]!);
    },
    [`MPI_${name}_init`]: (...args: CollectiveArguments) => {
      const comm = program.comm(args[parameters]!);
      // Numbered when its arguments are good: a collective that is refused is counted by `countRefused`.
      const collective = start(program, comm, ...args);
      const again = new StartAgain(collective, comm.core.nextPersistent());
      return handOver(program, new CRequest(comm, again), args[parameters + 2]!);
    },
  };
}

saves({ StartAgain });
