/** Collectives of every form: equal and unequal blocks, reductions, among neighbours, between the sides of an inter-communicator. */
import {
  type CollectivePlan,
  equalKinds,
  mayBeInPlace,
  neighborKinds,
  reducingKinds,
  unequalKinds,
} from "../script/collective-plan.ts";
import { type CommunicatorPlan, isInter, membersOf } from "../script/communicator-plan.ts";
import type { Draft } from "./draft.ts";
import type { MakeFamily } from "./family.ts";

export const collectives: MakeFamily = (draft) => ({
  name: "collectives",
  weight: 18,
  bearsDeaths: false,
  deal(comm) {
    dealCollective(draft, draft.collective(planCollective(draft, comm)), "any-time");
  },
});

/** Collectives that boards can do, where they are large enough. */
const boardKinds = ["barrier", "bcast", "gather", "allgather", "reduce", "allreduce"] as const;

export const blockingCollectives: MakeFamily = (draft) => ({
  name: "blocking collectives",
  weight: 8,
  bearsDeaths: false,
  deal(comm) {
    const { random } = draft;
    const any = planCollective(draft, comm);
    const kind = random.pick(boardKinds);
    const small = { ...any, kind, count: Math.min(any.count, 64), inPlace: any.inPlace && mayBeInPlace(kind) };
    const collective = draft.collective(random.chance(0.8) ? small : any);
    for (const rank of membersOf(comm)) draft.act(rank, { kind: "collective-now", collective });
  },
});

const everyKind = [...equalKinds, ...unequalKinds, ...reducingKinds];
/** The two sides of an inter-communicator have no common order of ranks, so no scans. */
const interKinds = everyKind.filter((kind) => kind !== "scan" && kind !== "exscan");

/** Bound of the elements in all blocks of one rank together. */
const elementsMax = 20_000;

export function planCollective({ random, choices }: Draft, comm: CommunicatorPlan): Omit<CollectivePlan, "number"> {
  const kinds = isInter(comm) ? interKinds : comm.topology !== null && random.chance(0.6) ? neighborKinds : everyKind;
  const kind = random.pick<CollectivePlan["kind"]>(kinds);
  const members = membersOf(comm);
  // In a reduction that is shared out between two sides the vector is as long as the product of their sizes.
  const blocks = comm.groups.reduce((product, group) => product * group.length, 1);
  return {
    communicator: comm.number,
    kind,
    root: random.pick(members),
    count: Math.min(random.pick([0, 1, 2, 7, 64, 700, 5000]), Math.ceil(elementsMax / blocks)),
    shape: random.bits(),
    inPlace: mayBeInPlace(kind) && !isInter(comm) && random.chance(0.4),
    reduction: random.pick(["sum", "compose"]),
    lent: choices.lent(),
  };
}

/** All members call the collective. */
export function dealCollective(draft: Draft, collective: number, waits: "any-time" | "blocking"): void {
  const plan = draft.collectivePlan(collective);
  for (const rank of membersOf(draft.communicators[plan.communicator]!)) {
    const request = draft.newRequest(rank);
    draft.act(rank, { kind: "collective", collective, request });
    draft.leaveOpen(rank, request);
    if (waits === "blocking" || draft.random.chance(0.5)) draft.settle(rank, [request]);
  }
}
