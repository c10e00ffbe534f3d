/** Inter-communicators: made from two communicators that have no member in common, and merged into one. */
import { type CommunicatorPlan, isInter, membersOf } from "../script/communicator-plan.ts";
import { communicatorsMax, splitBy } from "./communicators.ts";
import type { Draft } from "./draft.ts";
import type { MakeFamily } from "./family.ts";

export const interCommunicators: MakeFamily = (draft) => ({
  name: "inter-communicators",
  weight: 5,
  bearsDeaths: false,
  deal(comm) {
    if (draft.communicators.length >= communicatorsMax) return;
    if (isInter(comm)) merge(draft, comm);
    else {
      const sides = strangersOf(draft, comm) ?? halvesOf(draft, comm);
      if (sides !== null) createInter(draft, sides);
    }
  },
});

type Sides = readonly [CommunicatorPlan, CommunicatorPlan];

/** The communicator and another one without a common member, if there is one. */
function strangersOf({ random, communicators }: Draft, comm: CommunicatorPlan): Sides | null {
  const members = new Set(membersOf(comm));
  const others = communicators.filter(
    (other) => !isInter(other) && !membersOf(other).some((rank) => members.has(rank)),
  );
  return others.length === 0 ? null : [comm, random.pick(others)];
}

/** The communicator split in two. */
function halvesOf(draft: Draft, comm: CommunicatorPlan): Sides | null {
  const size = membersOf(comm).length;
  if (size < 2) return null;
  const cut = draft.random.between(1, size - 1);
  const colors = draft.random.shuffle(Array.from({ length: size }, (_, index) => (index < cut ? 0 : 1)));
  const made = splitBy(draft, comm, colors);
  return [made.get(0)!, made.get(1)!];
}

/** The two leaders communicate over a third communicator, of which both are members. */
function createInter(draft: Draft, sides: Sides): void {
  const { random, choices, communicators } = draft;
  const groups = sides.map((side) => side.groups[0]!);
  const talkers = (bridge: CommunicatorPlan): number[][] =>
    groups.map((group) => group.filter((rank) => membersOf(bridge).includes(rank)));
  const bridge = random.pick(
    communicators.filter((each) => !isInter(each) && talkers(each).every((ranks) => ranks.length > 0)),
  );
  const leaders = talkers(bridge).map((ranks) => random.pick(ranks));
  const number = draft.communicator({ groups, topology: null });
  const tag = random.chance(0.5) ? 0 : choices.ownTag();
  for (const [side, group] of groups.entries()) {
    for (const rank of group) {
      draft.make(rank, number, {
        by: "create-inter",
        local: sides[side]!.number,
        leader: leaders[side]!,
        bridge: bridge.number,
        remoteLeader: leaders[1 - side]!,
        tag,
      });
    }
  }
}

/** The side with `high` comes second; where both say the same, Banyan puts the side with the lowest rank first. */
function merge(draft: Draft, inter: CommunicatorPlan): void {
  const high = inter.groups.map(() => draft.random.chance(0.5));
  const lowest = inter.groups.map((group) => Math.min(...group));
  const firstIsFirst = high[0] === high[1] ? lowest[0]! < lowest[1]! : !high[0];
  const members = firstIsFirst ? inter.groups.flat() : inter.groups.toReversed().flat();
  const number = draft.communicator({ groups: [members], topology: null });
  for (const [side, group] of inter.groups.entries()) {
    for (const rank of group) draft.make(rank, number, { by: "merge", parent: inter.number, high: high[side]! });
  }
}
