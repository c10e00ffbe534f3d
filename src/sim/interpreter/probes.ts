/** Probes: their answers, and receives of messages that a matched probe has set aside. */
import type { RecordId } from "../../core/base/brand.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { R_BYTES, R_PEER, R_TAG } from "../../core/request/records.ts";
import type { ReceivePlan } from "../script/message-plan.ts";
import type { Steps } from "../sim-process.ts";
import { ProbeChoice } from "./choices.ts";
import { newlyPosted, PendingReceive, postReceive } from "./receives.ts";
import type { Aside, Doing, Pending, ScriptState } from "./script-state.ts";

/** Blocking: a probe whose message is received later. */
class ProbeFinding {
  private readonly receive: number;
  private readonly matched: boolean;
  private posted = -1;
  private readonly choice = new ProbeChoice();
  aside: Aside | null = null;

  constructor(receive: number, matched: boolean) {
    this.receive = receive;
    this.matched = matched;
  }

  *run(state: ScriptState): Steps {
    if (this.aside !== null) return;
    const { engine } = state.core;
    if (this.posted < 0) this.posted = state.nextPosted();
    const envelope = yield* this.choice.run(state, state.script.receives[this.receive]!);
    if (envelope >= 0 && this.matched) engine.unexpected.remove(envelope);
    this.aside = { envelope, posted: this.posted, probed: probedAt(state, envelope) };
  }
}

function probedAt({ core }: ScriptState, envelope: RecordId): Aside["probed"] {
  if (envelope < 0) return null;
  const { records } = core.engine;
  return {
    source: records.get(envelope, R_PEER),
    tag: records.get(envelope, R_TAG),
    bytes: records.get(envelope, R_BYTES),
  };
}

/** Blocking: probes, then receives the message found. */
export class Probe implements Doing {
  private readonly receive: number;
  private readonly matched: boolean;
  private readonly finding: ProbeFinding;
  private pending: Pending | null = null;

  constructor(receive: number, matched: boolean) {
    this.receive = receive;
    this.matched = matched;
    this.finding = new ProbeFinding(receive, matched);
  }

  *run(state: ScriptState): Steps {
    if (this.pending === null) {
      yield* this.finding.run(state);
      this.pending = this.receiveIt(state, this.finding.aside!);
    }
    yield this.pending.record;
    this.pending.end(state);
  }

  private receiveIt(state: ScriptState, aside: Aside): Pending {
    const plan = state.script.receives[this.receive]!;
    if (this.matched) return receiveFound(state, plan, aside);
    const buffer = state.buffer(plan.room, plan.lent);
    return postReceive(state, plan, buffer, newlyPosted(state, this.receive, aside.probed, aside.posted));
  }
}

export class SetAside implements Doing {
  private readonly receive: number;
  private readonly finding: ProbeFinding;

  constructor(receive: number) {
    this.receive = receive;
    this.finding = new ProbeFinding(receive, true);
  }

  *run(state: ScriptState): Steps {
    yield* this.finding.run(state);
    state.asides.set(this.receive, this.finding.aside!);
  }
}

export function receiveAside(state: ScriptState, number: number): Pending {
  const aside = state.asides.get(number)!;
  state.asides.delete(number);
  return receiveFound(state, state.script.receives[number]!, aside);
}

/**
 * Receives the message of a matched probe; where a death or a revocation ended the probe, a receive that ends in the same way.
 */
function receiveFound(state: ScriptState, plan: ReceivePlan, { envelope, posted, probed }: Aside): Pending {
  const buffer = state.buffer(plan.room, plan.lent);
  const now = newlyPosted(state, plan.number, probed, posted);
  if (envelope < 0) return postReceive(state, plan, buffer, now);
  const record = state.core.engine.startMatchedReceive(buffer.pointer(), plan.room, envelope);
  return new PendingReceive(record, plan.number, buffer, now);
}

saves({ ProbeFinding, Probe, SetAside });
