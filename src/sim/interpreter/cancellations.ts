/** Requests that are cancelled: with a certain result, and in a race with their message. */
import type { RecordId } from "../../core/base/brand.ts";
import { ANY_SOURCE } from "../../core/base/constants.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { R_ERROR, R_FLAGS, RecordFlag, SendMode } from "../../core/request/records.ts";
import { sourcesOf } from "../script/communicator-plan.ts";
import type { CancelAction } from "../script/script.ts";
import type { Steps } from "../sim-process.ts";
import type { Buffer } from "./buffer.ts";
import { newlyPosted, type PendingReceive, postReceive } from "./receives.ts";
import type { Doing, ScriptState } from "./script-state.ts";
import { filledBuffer, noteSend, postSend } from "./sends.ts";

type ActionOf<K extends CancelAction["kind"]> = Extract<CancelAction, { kind: K }>;

/** How long the sender waits for a receiver that will not answer. */
const patienceNs = 3_000;

export class CancelReceive implements Doing {
  private readonly action: ActionOf<"cancel-receive">;
  private record = -1 as RecordId;
  private buffer: Buffer | null = null;
  private isWish = true;

  constructor(action: ActionOf<"cancel-receive">) {
    this.action = action;
  }

  *run(state: ScriptState): Steps {
    if (this.buffer === null) this.begin(state);
    if (this.isWish) yield* cancelNow(state, this.record);
    this.isWish = false;
    yield this.record;
    const { communicator, source } = this.action;
    const what = "receive that was cancelled";
    endCancelled(state, this.record, this.buffer!, { what, communicator, peer: source });
  }

  private begin(state: ScriptState): void {
    const { communicator, source, tag } = this.action;
    this.buffer = state.buffer(8, false);
    const comm = state.communicator(communicator);
    const rank = state.rankIn(communicator, source);
    this.record = state.core.startReceive(comm, this.buffer.pointer(), 8, rank, tag);
  }
}

/** As in a program's call, which waits where another process decides. */
function* cancelNow(state: ScriptState, record: RecordId): Steps {
  const { protocol, engine } = state.core;
  if (protocol !== null && !protocol.mayCancel(record)) {
    yield state.process.until("a wish to cancel to be heard", () => protocol.mayCancel(record));
  }
  engine.cancel(record);
}

export function* cancelSend(state: ScriptState, action: ActionOf<"cancel-send">): Steps {
  const { communicator, to, tag, bytes } = action;
  const buffer = state.buffer(bytes, false);
  const comm = state.communicator(communicator);
  const dest = state.rankIn(communicator, to);
  const record = state.core.startSend(comm, buffer.pointer(), bytes, dest, tag, SendMode.SYNCHRONOUS);
  yield state.process.compute(patienceNs);
  state.core.engine.cancel(record);
  yield record;
  endCancelled(state, record, buffer, { what: "send that was cancelled", communicator, peer: to });
}

export class RaceReceive implements Doing {
  private readonly receive: number;
  private readonly afterNs: number;
  private mayCancel = true;
  private isCancelling = true;
  private pending: PendingReceive | null = null;

  constructor({ receive, afterNs }: ActionOf<"race-receive">) {
    this.receive = receive;
    this.afterNs = afterNs;
  }

  *run(state: ScriptState): Steps {
    const plan = state.script.receives[this.receive]!;
    const { engine } = state.core;
    for (; ; this.mayCancel = false) {
      this.pending ??= postReceive(state, plan, state.buffer(plan.room, plan.lent), newlyPosted(state, this.receive));
      const { record, buffer } = this.pending;
      if (this.isCancelling) yield* cancelLater(state, record, this.afterNs);
      this.isCancelling = false;
      yield record;
      const cancelled = isCancelled(state, record);
      state.observe(cancelled ? 1 : 0);
      if (!cancelled) {
        if (this.mayCancel) state.observation.races.receiveCame++;
        this.pending.end(state);
        return;
      }
      state.observation.races.receiveCancelled++;
      engine.giveBack(record);
      buffer.free();
      this.pending = null;
    }
  }
}

export function* raceSend(state: ScriptState, { message: number, verdictTag, afterNs }: ActionOf<"race-send">): Steps {
  const message = state.script.messages[number]!;
  const { engine } = state.core;
  const buffer = filledBuffer(state, message);
  const record = postSend(state, message, buffer);
  yield* cancelLater(state, record, afterNs);
  yield record;
  const cancelled = isCancelled(state, record);
  state.observe(cancelled ? 1 : 0);
  state.observation.races[cancelled ? "sendCancelled" : "sendWent"]++;
  if (cancelled) state.observation.cancelledMessages.add(number);
  else noteSend(state, number, { error: engine.records.get(record, R_ERROR), cancelled });
  engine.giveBack(record);
  buffer.free();
  yield* sendVerdict(state, { to: message.to, tag: verdictTag, communicator: message.communicator, cancelled });
}

function* sendVerdict(
  state: ScriptState,
  verdict: { readonly to: number; readonly tag: number; readonly communicator: number; readonly cancelled: boolean },
): Steps {
  const { to, tag, communicator, cancelled } = verdict;
  const buffer = state.buffer(1, false);
  buffer.view[0] = cancelled ? 1 : 0;
  const comm = state.communicator(communicator);
  const dest = state.rankIn(communicator, to);
  const record = state.core.startSend(comm, buffer.pointer(), 1, dest, tag, SendMode.STANDARD);
  yield record;
  state.core.engine.giveBack(record);
  buffer.free();
}

/** The other end of a send that may be cancelled: learns whether it was, and receives it or does not. */
export function* raceAnswer(state: ScriptState, { receive, verdictTag }: ActionOf<"race-answer">): Steps {
  const plan = state.script.receives[receive]!;
  const { engine } = state.core;
  const buffer = state.buffer(plan.room, plan.lent);
  const pending = postReceive(state, plan, buffer, newlyPosted(state, receive));
  const verdict = state.buffer(1, false);
  const comm = state.communicator(plan.communicator);
  const source = state.rankIn(plan.communicator, plan.source);
  const heard = state.core.startReceive(comm, verdict.pointer(), 1, source, verdictTag);
  yield heard;
  const willNotCome = engine.records.get(heard, R_ERROR) === 0 && verdict.view[0] === 1;
  engine.giveBack(heard);
  verdict.free();
  if (willNotCome) engine.cancel(pending.record);
  yield pending.record;
  if (willNotCome) {
    const what = "receive of a message that was cancelled";
    endCancelled(state, pending.record, buffer, { what, communicator: plan.communicator, peer: plan.source });
  } else pending.end(state);
}

/** Time passes, arrivals are polled once, and then the request is cancelled. */
function* cancelLater(state: ScriptState, record: RecordId, afterNs: number): Steps {
  if (afterNs > 0) yield state.process.compute(afterNs);
  state.core.progress();
  state.core.engine.cancel(record);
}

const isCancelled = ({ core }: ScriptState, record: RecordId): boolean =>
  (core.engine.records.get(record, R_FLAGS) & RecordFlag.CANCELLED) !== 0;

function endCancelled(
  state: ScriptState,
  record: RecordId,
  buffer: Buffer,
  request: { readonly what: string; readonly communicator: number; readonly peer: number },
): void {
  const { rank, observation, core } = state;
  const { what, communicator, peer } = request;
  const error = core.engine.records.get(record, R_ERROR);
  const cancelled = isCancelled(state, record);
  observation.ended.push({
    rank,
    what,
    communicators: [communicator],
    peers: sourcesOf(state.plan(communicator), rank, peer),
    isWildcard: peer === ANY_SOURCE,
    error,
    cancelled,
    wantedCancelled: true,
  });
  core.engine.giveBack(record);
  buffer.free();
}

saves({ CancelReceive, RaceReceive });
