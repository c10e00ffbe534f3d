/**
 * Ready sends: the sender knows that the receive is posted, because the receiver has told it so. The message must be received
 * like any other; posting the receive first is the program's promise, which these programs keep.
 */
import { SendMode } from "../../core/request/records.ts";
import type { CommunicatorPlan } from "../script/communicator-plan.ts";
import type { Draft } from "./draft.ts";
import type { MakeFamily } from "./family.ts";
import { pairOf } from "./messages.ts";

export const readySends: MakeFamily = (draft) => ({
  name: "ready sends",
  weight: 4,
  bearsDeaths: true,
  deal(comm) {
    const { random, choices } = draft;
    const { from, to } = pairOf(draft, comm);
    if (from === to || comm.open.has(from) || comm.open.has(to)) return;
    const message = draft.message({
      communicator: comm.number,
      from,
      to,
      tag: random.below(4),
      mode: SendMode.READY,
      bytes: choices.bytes(),
      lent: choices.lent(),
    });
    draft.receives([draft.receiveOf(message)], "posted");
    tellReady(draft, comm, { from, to });
    draft.send(message, "any-time");
  },
});

/** The receiver, which has posted the receive, tells the sender, which waits for that. Neither of them is open. */
export function tellReady(draft: Draft, comm: CommunicatorPlan, { from, to }: { from: number; to: number }): void {
  const { choices } = draft;
  const go = draft.message({
    communicator: comm.number,
    from: to,
    to: from,
    tag: choices.ownTag(),
    mode: SendMode.STANDARD,
    bytes: 0,
    lent: false,
  });
  draft.send(go, "any-time");
  draft.receives([draft.receiveOf(go)], "blocking");
}
