/** The compiled schedules of collectives on a communicator: planned, or found again. */
import { assert } from "../base/assert.ts";
import { callOf, callOfGroups } from "../coll/call-of.ts";
import { type CompiledSchedule, compileSchedule, emptied } from "../coll/engine/compiled-schedule.ts";
import { equalBlocks } from "../coll/engine/rounds.ts";
import type { Blocks } from "../coll/engine/schedule.ts";
import { type InterCollective, type NeighborCollective, planInter, planNeighbor } from "../coll/inter/plan-inter.ts";
import { type Collective, plan } from "../coll/plan.ts";
import type { EqualCall, EqualKind, ReductionKind } from "./collective-form.ts";
import type { Communicator } from "./communicator.ts";

/** The kinds whose compiled schedules are cached, by their numbers in the cache: those with few arguments. */
const cached = {
  barrier: 0,
  bcast: 1,
  gather: 2,
  scatter: 3,
  allgather: 4,
  alltoall: 5,
  reduce: 6,
  allreduce: 7,
  reduce_scatter_block: 8,
  scan: 9,
  exscan: 10,
} as const satisfies Record<EqualKind | ReductionKind, number>;
type CachedKind = EqualKind | ReductionKind;

const inPlaceFlag = 1;

function compiled(comm: Communicator, collective: Collective | InterCollective): CompiledSchedule {
  // The two unions share names of kinds; which one it is, the communicator knows.
  if (!comm.isInter) return compileSchedule(plan(collective as Collective), callOf(collective as Collective));
  const inter = collective as InterCollective;
  return compileSchedule(planInter(inter), callOfGroups(inter));
}

/** Of a collective with blocks of their own size: planned each time. */
export function blocksProgram(comm: Communicator, collective: Collective | InterCollective): CompiledSchedule {
  const isNothing = collective.kind === "reduce_scatter" && collective.segments.every((bytes) => bytes === 0);
  if (!isNothing) return compiled(comm, collective);
  const segments = collective.segments.map(() => collective.elementBytes);
  return emptied(compiled(comm, { ...collective, segments }));
}

/** Of a collective whose blocks are equal: planned once for each communicator. */
export function equalProgram(
  comm: Communicator,
  kind: CachedKind,
  call: EqualCall,
  elementBytes: number,
): CompiledSchedule {
  const { bytes = 0, root = 0, inPlace = false } = call;
  const flags = inPlace ? inPlaceFlag : 0;
  const known = comm.programs.find(cached[kind], bytes, root, elementBytes, flags);
  if (known !== undefined) return known;
  // With nothing to move there are still messages, as many as with one element: another rank may have more to move.
  const plannedBytes = bytes === 0 ? elementBytes : bytes;
  const collective = comm.isInter
    ? interCollective(comm, kind, plannedBytes, root, elementBytes)
    : // Every field that any of these kinds wants.
      ({
        kind,
        rank: comm.rank,
        size: comm.size,
        bytes: plannedBytes,
        root,
        inPlace,
        elementBytes,
        nodes: comm.memberNodes,
      } as Collective);
  const planned = compiled(comm, collective);
  const program = bytes === 0 ? emptied(planned) : planned;
  comm.programs.keep([cached[kind], bytes, root, elementBytes, flags], program);
  return program;
}

export const neighborProgram = (collective: NeighborCollective): CompiledSchedule =>
  compileSchedule(planNeighbor(collective), callOfGroups(collective));

/** An allgather in place. */
export const agreementProgram = (comm: Communicator, bytes: number): CompiledSchedule =>
  compiled(comm, { kind: "allgather", rank: comm.rank, size: comm.size, bytes, inPlace: true });

/** Forms with equal blocks on an inter-communicator are those with blocks, all of one length. */
function interCollective(
  comm: Communicator,
  kind: CachedKind,
  bytes: number,
  root: number,
  elementBytes: number,
): InterCollective {
  const place = { rank: comm.rank, localSize: comm.size, remoteSize: comm.peers.size };
  const blocks: Blocks = equalBlocks(comm.peers.size, bytes);
  switch (kind) {
    case "barrier":
      return { kind, ...place };
    case "bcast":
      return { kind, ...place, root, bytes };
    case "gather":
      return { kind: "gatherv", ...place, root, bytes, blocks };
    case "scatter":
      return { kind: "scatterv", ...place, root, bytes, blocks };
    case "allgather":
      return { kind: "allgatherv", ...place, bytes, blocks };
    case "alltoall":
      return { kind: "alltoallv", ...place, sends: blocks, receives: blocks };
    case "reduce":
      return { kind, ...place, root, bytes, elementBytes };
    case "allreduce":
      return { kind, ...place, bytes, elementBytes };
    case "reduce_scatter_block":
      return { kind: "reduce_scatter", ...place, segments: new Array<number>(comm.size).fill(bytes), elementBytes };
    case "scan":
    case "exscan":
      assert(false, "an inter-communicator has no scan");
  }
}
