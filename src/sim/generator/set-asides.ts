/**
 * Matched probes: messages are set aside as they come, and received later, in another order. No sender waits for its send
 * meanwhile: a rank that has sent two of them would wait for the first, and the receiver for the second.
 */
import { type CommunicatorPlan, membersOf, peersOf } from "../script/communicator-plan.ts";
import type { Draft } from "./draft.ts";
import type { MakeFamily } from "./family.ts";
import { type MessageGroup, planGroup } from "./message-groups.ts";

/** From named ranks. */
export const setAsides: MakeFamily = (draft) => ({
  name: "messages that are set aside",
  weight: 4,
  bearsDeaths: true,
  deal(comm) {
    const group = planNamed(draft, comm);
    if (group !== null) setAside(draft, group);
  },
});

/** From any rank. */
export const groupSetAsides: MakeFamily = (draft) => ({
  name: "message groups that are set aside",
  weight: 2,
  bearsDeaths: false,
  deal(comm) {
    const group = planGroup(draft, comm);
    if (group !== null) setAside(draft, group);
  },
});

function planNamed(draft: Draft, comm: CommunicatorPlan): MessageGroup | null {
  const { random, choices } = draft;
  const to = random.pick(membersOf(comm));
  if (comm.open.has(to)) return null;
  const communicator = comm.number;
  const messages: number[] = [];
  for (let left = random.between(1, 4); left > 0; left--) {
    const [from, tag] = [random.pick(peersOf(comm, to)), random.below(4)];
    const [bytes, mode, lent] = [choices.bytes(), choices.mode(), choices.lent()];
    messages.push(draft.message({ communicator, from, to, tag, bytes, mode, lent }));
  }
  return { to, messages, receives: messages.map((message) => draft.receiveOf(message)) };
}

function setAside(draft: Draft, { to, messages, receives }: MessageGroup): void {
  for (const message of messages) draft.send(message, "until-quiet");
  for (const receive of receives) draft.act(to, { kind: "set-aside", receive });
  for (const receive of draft.random.shuffle([...receives])) {
    const request = draft.newRequest(to);
    draft.act(to, { kind: "receive-aside", receive, request });
    draft.leaveOpen(to, request);
    if (draft.random.chance(0.3)) draft.settle(to, [request]);
  }
  draft.keepOrder(to);
}
