/** Communicators made from others: duplicates, splits by colours and keys, and those of a group. */
import { type CommunicatorPlan, isInter, membersOf } from "../script/communicator-plan.ts";
import type { Draft } from "./draft.ts";
import type { MakeFamily } from "./family.ts";

/** Bound of the communicators in a script. */
export const communicatorsMax = 14;

export const communicators: MakeFamily = (draft) => ({
  name: "communicators",
  weight: 5,
  bearsDeaths: false,
  deal(parent) {
    if (draft.communicators.length >= communicatorsMax) return;
    const { random } = draft;
    if (random.chance(0.3)) duplicate(draft, parent);
    else if (isInter(parent) || random.chance(0.6)) split(draft, parent);
    else createOfGroup(draft, parent);
  },
});

function duplicate(draft: Draft, parent: CommunicatorPlan): void {
  const number = draft.communicator({ groups: parent.groups, topology: parent.topology });
  // A shrunken communicator has no topology. With deaths it has not all members, and shrinking waits also for a rank that has given up.
  const isShrunk = parent.topology === null && !draft.hasDeaths && number % 3 === 0;
  const by = isShrunk ? "shrink" : "duplicate";
  for (const rank of membersOf(parent)) draft.make(rank, number, { by, parent: parent.number });
}

function split(draft: Draft, parent: CommunicatorPlan): void {
  const { random } = draft;
  splitBy(
    draft,
    parent,
    membersOf(parent).map(() => (random.chance(0.2) ? null : random.below(3))),
  );
}

/**
 * By the colour of each member; members of one colour in the order of their keys, then of their ranks. In an inter-communicator
 * equal colours of the two sides face each other. Returns the communicator of each colour.
 */
export function splitBy(
  draft: Draft,
  parent: CommunicatorPlan,
  colorsByMember: readonly (number | null)[],
): Map<number | null, CommunicatorPlan> {
  const members = membersOf(parent);
  const colors = new Map(members.map((rank, index) => [rank, colorsByMember[index]!] as const));
  const keys = new Map(members.map((rank) => [rank, draft.random.between(-2, 2)] as const));
  const made = new Map<number | null, CommunicatorPlan>();
  for (const color of new Set(colorsByMember)) {
    const groups = parent.groups.map((group) => {
      const ranks = group.filter((rank) => colors.get(rank) === color);
      return ranks.sort((a, b) => keys.get(a)! - keys.get(b)! || group.indexOf(a) - group.indexOf(b));
    });
    // A colour that only one side has makes no inter-communicator.
    if (color === null || groups.some((group) => group.length === 0)) continue;
    made.set(color, draft.communicators[draft.communicator({ groups, topology: null })]!);
  }
  for (const rank of members) {
    const color = colors.get(rank)!;
    const number = made.get(color)?.number ?? -1;
    draft.make(rank, number, { by: "split", parent: parent.number, color, key: keys.get(rank)! });
  }
  return made;
}

/** Some members in an order of their own; all members of the parent call, or only the chosen ones. */
function createOfGroup(draft: Draft, parent: CommunicatorPlan): void {
  const { random, choices } = draft;
  const all = random.shuffle([...parent.groups[0]!]);
  const members = all.slice(0, random.between(1, all.length));
  const number = draft.communicator({ groups: [members], topology: null });
  if (random.chance(0.5)) {
    const tag = random.pick([0, choices.ownTag()]);
    for (const rank of members) draft.make(rank, number, { by: "create-group", parent: parent.number, members, tag });
    return;
  }
  for (const rank of parent.groups[0]!) {
    draft.make(rank, members.includes(rank) ? number : -1, { by: "create", parent: parent.number, members });
  }
}
