/** Communicators with a topology, for the neighbourhood collectives: grids, graphs, and edges that only their ends know. */
import { type CommunicatorPlan, isInter } from "../script/communicator-plan.ts";
import type { TopologyPlan } from "../script/topology-plan.ts";
import { communicatorsMax } from "./communicators.ts";
import type { Draft } from "./draft.ts";
import type { MakeFamily } from "./family.ts";

export const topologies: MakeFamily = (draft) => ({
  name: "topologies",
  weight: 4,
  bearsDeaths: false,
  deal(parent) {
    if (isInter(parent) || draft.communicators.length >= communicatorsMax) return;
    const { random } = draft;
    const kind = random.pick(["grid", "graph", "edges"] as const);
    if (kind === "grid") grid(draft, parent);
    else if (kind === "graph") graph(draft, parent);
    else edges(draft, parent);
  },
});

/** A grid of the first ranks; the others get no communicator. */
function grid(draft: Draft, parent: CommunicatorPlan): void {
  const { random } = draft;
  const dims: number[] = [];
  let room = parent.groups[0]!.length;
  for (let left = random.between(1, 3); left > 0; left--) {
    dims.push(random.between(1, Math.min(room, 4)));
    room = Math.floor(room / dims.at(-1)!);
  }
  const size = dims.reduce((product, dim) => product * dim, 1);
  createOfFirst(draft, parent, size, { kind: "grid", dims, periods: dims.map(() => random.chance(0.5)) });
}

/** Edges both ways, some of them twice, some of them loops. */
function graph(draft: Draft, parent: CommunicatorPlan): void {
  const { random } = draft;
  const size = random.between(1, parent.groups[0]!.length);
  const neighbours: number[][] = Array.from({ length: size }, () => []);
  for (let left = random.below(2 * size); left > 0; left--) {
    const [one, other] = [random.below(size), random.below(size)];
    neighbours[one]!.push(other);
    if (one !== other) neighbours[other]!.push(one);
  }
  createOfFirst(draft, parent, size, { kind: "graph", neighbours });
}

/** Edges one way; each rank lists its own, incoming and outgoing ones in orders of their own. */
function edges(draft: Draft, parent: CommunicatorPlan): void {
  const { random } = draft;
  const members = parent.groups[0]!;
  const sources: number[][] = members.map(() => []);
  const destinations: number[][] = members.map(() => []);
  for (let left = random.below(3 * members.length); left > 0; left--) {
    const [from, to] = [random.below(members.length), random.below(members.length)];
    destinations[from]!.push(to);
    sources[to]!.push(from);
  }
  for (const list of [...sources, ...destinations]) random.shuffle(list);
  const topology: TopologyPlan = { kind: "edges", sources, destinations };
  const number = draft.communicator({ groups: [members], topology });
  for (const rank of members) draft.make(rank, number, { by: "duplicate", parent: parent.number });
}

function createOfFirst(draft: Draft, parent: CommunicatorPlan, size: number, topology: TopologyPlan): void {
  const members = parent.groups[0]!.slice(0, size);
  const number = draft.communicator({ groups: [members], topology });
  for (const [index, rank] of parent.groups[0]!.entries()) {
    draft.make(rank, index < size ? number : -1, { by: "create", parent: parent.number, members });
  }
}
