/** One message between two ranks, or from a rank to itself. */
import { ANY_SOURCE, ANY_TAG } from "../../core/base/constants.ts";
import { SendMode } from "../../core/request/records.ts";
import { type CommunicatorPlan, isInter, membersOf, peersOf } from "../script/communicator-plan.ts";
import type { Draft } from "./draft.ts";
import type { MakeFamily } from "./family.ts";

/** Of the ranks that are not open some never use ANY_TAG: only they can be sent a message that is never to be received. */
export const takesAnyTag = (comm: CommunicatorPlan, rank: number): boolean => (comm.number + rank) % 2 === 0;

/** A rank, and one it can talk to: now and then itself. */
export function pairOf({ random }: Draft, comm: CommunicatorPlan): { from: number; to: number } {
  const from = random.pick(membersOf(comm));
  return { from, to: !isInter(comm) && random.chance(0.1) ? from : random.pick(peersOf(comm, from)) };
}

export const messages: MakeFamily = (draft) => ({
  name: "messages",
  weight: 42,
  bearsDeaths: true,
  deal(comm) {
    const { random, choices } = draft;
    const { from, to } = pairOf(draft, comm);
    const isOpen = comm.open.has(to);
    const tag = isOpen ? draft.nextMessage : random.below(4);
    // A rank that sends to itself knows that the receive is posted.
    const mode = from === to && random.chance(0.2) ? SendMode.READY : choices.mode();
    const message = draft.message({
      communicator: comm.number,
      from,
      to,
      tag,
      mode,
      bytes: choices.bytes(),
      lent: choices.lent(),
    });
    const receive = isOpen
      ? draft.receive(openReceive(draft, comm, to))
      : draft.receiveOf(message, takesAnyTag(comm, to) && random.chance(0.3) ? { tag: ANY_TAG } : {});
    // A rank that sends to itself posts the receive first, unless the message waits in a buffer.
    const receivesFirst = from === to && (mode !== SendMode.BUFFERED || random.chance(0.5));
    if (receivesFirst) draft.receives([receive], "posted");
    draft.send(message, isOpen ? "until-quiet" : "any-time");
    if (!receivesFirst) draft.receives([receive], "any-way");
  },
});

function openReceive({ choices }: Draft, comm: CommunicatorPlan, at: number) {
  return {
    communicator: comm.number,
    at,
    source: ANY_SOURCE,
    tag: ANY_TAG,
    mayTake: null,
    room: choices.bytesMax,
    lent: choices.lent(),
  };
}
