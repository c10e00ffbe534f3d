/** Probes: what they tell, and receives of what a matched probe has set aside. */
import { R_BYTES, R_PEER, R_TAG } from "../../core/request/records.ts";
import type { ReceivePlan } from "../script/message-plan.ts";
import { foundByProbe } from "./choices.ts";
import type { Aside, Pending, RankState, Steps } from "./rank-state.ts";
import { endReceive, newlyPosted, postReceive, waitFor } from "./receives.ts";

/** Blocking: probes, then receives what was found. */
export function* probe(state: RankState, number: number, matched: boolean): Steps {
  const plan = state.script.receives[number]!;
  const aside = yield* untilFound(state, plan, matched);
  if (matched) yield* waitFor(receiveFound(state, plan, aside));
  else {
    const buffer = state.buffer(plan.room, plan.lent);
    yield* waitFor(postReceive(state, plan, buffer, newlyPosted(state, number, aside.probed, aside.posted)));
  }
}

export function* setAside(state: RankState, number: number): Steps {
  state.asides.set(number, yield* untilFound(state, state.script.receives[number]!, true));
}

export function receiveAside(state: RankState, number: number): Pending {
  const aside = state.asides.get(number)!;
  state.asides.delete(number);
  return receiveFound(state, state.script.receives[number]!, aside);
}

function* untilFound(state: RankState, plan: ReceivePlan, matched: boolean): Steps<Aside> {
  const { engine } = state.core;
  const { source, tag } = plan;
  const { context } = state.communicator(plan.communicator);
  const posted = state.nextPosted();
  const envelope = yield* foundByProbe(state, source, tag, context, `probe of receive ${plan.number}`);
  if (envelope < 0) return { envelope, posted, probed: null };
  if (matched) engine.unexpected.remove(envelope);
  const { records } = engine;
  const probed = {
    source: records.get(envelope, R_PEER),
    tag: records.get(envelope, R_TAG),
    bytes: records.get(envelope, R_BYTES),
  };
  return { envelope, posted, probed };
}

/** Receives what a matched probe found; where it found a death, a receive of the dead. */
function receiveFound(state: RankState, plan: ReceivePlan, { envelope, posted, probed }: Aside): Pending {
  const buffer = state.buffer(plan.room, plan.lent);
  const now = newlyPosted(state, plan.number, probed, posted);
  if (envelope < 0) return postReceive(state, plan, buffer, now);
  const record = state.core.engine.startMatchedReceive(buffer.pointer(), plan.room, envelope);
  return { record, end: () => endReceive(state, plan, record, buffer, now) };
}
