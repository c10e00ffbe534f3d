/**
 * Requests that are cancelled: requests without a partner, which must be cancelled, and requests that race with their message,
 * where either result is right and both sides must agree on it.
 */
import { ANY_SOURCE } from "../../core/base/constants.ts";
import { SendMode } from "../../core/request/records.ts";
import { membersOf, peersOf } from "../script/communicator-plan.ts";
import type { MakeFamily } from "./family.ts";
import { pairOf, takesAnyTag } from "./messages.ts";

export const cancellations: MakeFamily = (draft) => ({
  name: "cancellations",
  weight: 5,
  bearsDeaths: true,
  deal(comm) {
    const { random, choices } = draft;
    const rank = random.pick(membersOf(comm));
    const peer = random.pick(peersOf(comm, rank));
    const communicator = comm.number;
    const tag = choices.ownTag();
    if (random.chance(0.5) || draft.mayCancelSend !== null) {
      const source = random.chance(0.5) && draft.takesAnySource ? ANY_SOURCE : peer;
      draft.act(rank, { kind: "cancel-receive", communicator, source, tag });
    } else if (!comm.open.has(peer) && !takesAnyTag(comm, peer)) {
      draft.act(rank, { kind: "cancel-send", communicator, to: peer, tag, bytes: choices.bytes() });
    }
  },
});

/** The receiver cancels: it gets the message all the same, with this receive or the next. */
export const racingReceives: MakeFamily = (draft) => ({
  name: "receives that are cancelled while their message comes",
  weight: 4,
  bearsDeaths: true,
  deal(comm) {
    const { choices } = draft;
    const { from, to } = pairOf(draft, comm);
    if (from === to || comm.open.has(to)) return;
    const message = draft.message({
      communicator: comm.number,
      from,
      to,
      tag: choices.ownTag(),
      mode: choices.mode(),
      bytes: choices.bytes(),
      lent: choices.lent(),
    });
    draft.send(message, "any-time");
    draft.act(to, { kind: "race-receive", receive: draft.receiveOf(message), afterNs: choices.whileNs() });
    draft.keepOrder(to);
  },
});

/** The sender cancels, and tells the receiver whether there will be a message. */
export const racingSends: MakeFamily = (draft) => ({
  name: "sends that are cancelled while they are received",
  weight: 4,
  bearsDeaths: true,
  deal(comm) {
    const { random, choices } = draft;
    const { from, to } = pairOf(draft, comm);
    // No other receive may take the message or the verdict.
    if (from === to || comm.open.has(to) || takesAnyTag(comm, to)) return;
    if (draft.mayCancelSend?.(from, to) === false) return;
    const message = draft.message({
      communicator: comm.number,
      from,
      to,
      tag: choices.ownTag(),
      mode: random.pick([SendMode.STANDARD, SendMode.SYNCHRONOUS]),
      bytes: choices.bytes(),
      lent: choices.lent(),
    });
    const verdictTag = choices.ownTag();
    draft.act(from, { kind: "race-send", message, verdictTag, afterNs: choices.whileNs() });
    draft.act(to, { kind: "race-answer", receive: draft.receiveOf(message), verdictTag });
    draft.keepOrder(to);
  },
});
