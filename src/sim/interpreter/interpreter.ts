/** Runs one rank's part of a script and notes what it saw. What an action does is in the file of its family. */
import { assert, unreachable } from "../../core/base/assert.ts";
import type { Observation } from "../observation.ts";
import type { Action, Script } from "../script/script.ts";
import type { SimProcess } from "../sim-process.ts";
import { cancelReceive, cancelSend, raceAnswer, raceReceive, raceSend } from "./cancellations.ts";
import { lookAround, whichever } from "./choices.ts";
import { startCollective } from "./collective-call.ts";
import { make } from "./communicators.ts";
import { persistentCollective, persistentReceive, persistentSend } from "./persistent.ts";
import { probe, receiveAside, setAside } from "./probes.ts";
import { RankState, type Steps, type Witness } from "./rank-state.ts";
import { receiveNow, startReceive } from "./receives.ts";
import { sendCopy, sendNow, startSend } from "./sends.ts";

/** Actions after which a rank under a protocol that replays looks around, as programs do that poll. */
const actionsPerLook = 3;

export function* interpret(
  script: Script,
  process: SimProcess,
  observation: Observation,
  witness: Witness | null = null,
): Steps {
  const state = new RankState(script, process, observation, witness);
  for (const [index, action] of script.actions[process.rank]!.entries()) {
    if (witness?.passes(index) === true) yield process.compute(1);
    if (index % actionsPerLook === 0) yield* lookAround(state);
    yield* perform(state, action);
  }
  witness?.passes(script.actions[process.rank]!.length);
  assert(state.pending.size === 0, "a script ends with requests that nobody waited for");
  yield process.until("its buffered messages to leave", () => state.buffered.isEmpty(process.engine));
}

function* perform(state: RankState, action: Action): Steps {
  const { pending, series } = state;
  switch (action.kind) {
    case "send":
      pending.set(action.request, startSend(state, action.message));
      return;
    case "send-now":
      return yield* sendNow(state, action.message);
    case "send-copy":
      return sendCopy(state, action.message);
    case "receive":
      pending.set(action.request, startReceive(state, action.receive));
      return;
    case "receive-now":
      return yield* receiveNow(state, action.receive);
    case "probe":
      return yield* probe(state, action.receive, action.matched);
    case "set-aside":
      return yield* setAside(state, action.receive);
    case "receive-aside":
      pending.set(action.request, receiveAside(state, action.receive));
      return;
    case "init-send":
      series.set(action.series, persistentSend(state, action.message));
      return;
    case "start-send":
      pending.set(action.request, series.get(action.series)!.start(action.message));
      return;
    case "init-receive":
      series.set(action.series, persistentReceive(state, action.receive));
      return;
    case "start-receive":
      pending.set(action.request, series.get(action.series)!.start(action.receive));
      return;
    case "init-collective":
      series.set(action.series, persistentCollective(state, action.collective));
      return;
    case "start-collective":
      pending.set(action.request, series.get(action.series)!.start(action.collective));
      return;
    case "free-series":
      series.get(action.series)!.free();
      return;
    case "wait":
      return yield* wait(state, action.requests, action.inOrder);
    case "cancel-receive":
      return yield* cancelReceive(state, action);
    case "cancel-send":
      return yield* cancelSend(state, action);
    case "race-receive":
      return yield* raceReceive(state, action);
    case "race-send":
      return yield* raceSend(state, action);
    case "race-answer":
      return yield* raceAnswer(state, action);
    case "collective":
      pending.set(action.request, startCollective(state, action.collective));
      return;
    case "make":
      return yield* make(state, action.communicator, action.how);
    case "free":
      return state.freeCommunicator(action.communicator);
    case "compute":
      yield state.process.compute(action.forNs);
      return yield* lookAround(state);
    default:
      unreachable(action);
  }
}

function* wait(state: RankState, requests: readonly number[], inOrder: boolean): Steps {
  const { pending } = state;
  const left = [...requests];
  while (left.length !== 0) {
    const records = left.map((request) => pending.get(request)!.record);
    const index = inOrder ? 0 : yield* whichever(state, records);
    if (inOrder) yield records[0]!;
    const [request] = left.splice(index, 1);
    pending.get(request!)!.end();
    pending.delete(request!);
  }
}
