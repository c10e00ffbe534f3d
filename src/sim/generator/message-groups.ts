/** Several messages to one rank under one tag, received in the order of arrival. After a quiet point the tag may be the same again. */
import { ANY_SOURCE } from "../../core/base/constants.ts";
import { type CommunicatorPlan, membersOf, peersOf } from "../script/communicator-plan.ts";
import type { Draft } from "./draft.ts";
import type { MakeFamily } from "./family.ts";

export interface MessageGroup {
  readonly to: number;
  readonly messages: readonly number[];
  readonly receives: readonly number[];
}

/** Null where the rank that was drawn is open: it takes no tag of its own; and where nothing is received from any source. */
export function planGroup(draft: Draft, comm: CommunicatorPlan): MessageGroup | null {
  const { random, choices } = draft;
  const to = random.pick(membersOf(comm));
  if (comm.open.has(to) || !draft.takesAnySource) return null;
  const communicator = comm.number;
  const tag = draft.groupTag(communicator, to);
  const messages: number[] = [];
  for (let left = random.between(1, 5); left > 0; left--) {
    const from = random.pick(peersOf(comm, to));
    // Long enough for the message's number, by which the receiver identifies it.
    const bytes = 4 + choices.bytes();
    messages.push(draft.message({ communicator, from, to, tag, bytes, mode: choices.mode(), lent: choices.lent() }));
  }
  const room = 4 + choices.bytesMax;
  const receives = messages.map(() =>
    draft.receive({ communicator, at: to, source: ANY_SOURCE, tag, room, lent: choices.lent(), mayTake: messages }),
  );
  return { to, messages, receives };
}

export const messageGroups: MakeFamily = (draft) => ({
  name: "message groups",
  weight: 8,
  bearsDeaths: false,
  deal(comm) {
    const group = planGroup(draft, comm);
    if (group === null) return;
    for (const message of group.messages) draft.send(message, "until-quiet");
    draft.receives(group.receives, "any-way");
  },
});
