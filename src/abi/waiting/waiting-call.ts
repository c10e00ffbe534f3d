/** In which call a C program waits, and for what: for people who want to see where its rank is. */

import type { CommRank } from "../../core/base/brand.ts";
import { ANY_SOURCE } from "../../core/base/constants.ts";
import type { CallTeller, WaitingCall } from "../../core/binding/waiting-call.ts";
import type { Program } from "../program.ts";
import { isActive } from "../replay/choices.ts";

/** Calls that wait for requests, by the arguments of which the first two are how many there are, and where their handles are. */
const ofRequests: Readonly<Record<string, "all" | "one">> = {
  MPI_Waitall: "all",
  MPI_Waitany: "one",
  MPI_Waitsome: "one",
};

/** Calls that look for a message: source, tag and communicator are their first arguments. */
const probes = new Set(["MPI_Probe", "MPI_Mprobe"]);

export function callTellerOf(program: Program): CallTeller {
  return {
    receive: "MPI_Recv",
    waitingCall: () => waitingCallOf(program),
    nameOf: (core) => {
      const { world, self, parent, communicators } = program;
      const known = [world, self, ...(parent === null ? [] : [parent]), ...communicators.list()];
      const comm = known.find((each) => each.core === core);
      return comm === undefined ? "" : comm.name || comm.label;
    },
  };
}

function waitingCallOf({ call: name, again, ints, requests, communicators }: Program): WaitingCall {
  const plain: WaitingCall = { name, requests: [], isOneEnough: false, probe: null };
  if (again === null || again.name !== name) return plain;
  const { args } = again;
  const [first = 0, second = 0, third = 0] = args;
  const howMany = ofRequests[name];
  if (howMany !== undefined) {
    const handles = ints.subarray(second >> 2, (second >> 2) + first);
    const active = Array.from(handles, (handle) => requests.find(handle)).filter(isActive);
    return { ...plain, requests: active.map(({ record }) => record), isOneEnough: howMany === "one" };
  }
  const core = probes.has(name) ? communicators.find(third)?.core : undefined;
  if (core === undefined) return plain;
  const peer = first === ANY_SOURCE ? ANY_SOURCE : core.peers.worldRank(first as CommRank);
  return { ...plain, probe: { peer, tag: second, context: core.context } };
}
