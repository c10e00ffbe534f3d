/** Runs one rank's part of a script and notes what it saw. What an action does is in the file of its family. */
import { assert, unreachable } from "../../core/base/assert.ts";
import { describeRequest } from "../describe-request.ts";
import type { Observation } from "../observation.ts";
import type { Action, Script } from "../script/script.ts";
import type { SimProcess } from "../sim-process.ts";
import { cancelReceive, cancelSend, raceAnswer, raceReceive, raceSend } from "./cancellations.ts";
import { startCollective } from "./collective-call.ts";
import { make } from "./communicators.ts";
import { persistentCollective, persistentReceive, persistentSend } from "./persistent.ts";
import { probe, receiveAside, setAside } from "./probes.ts";
import { RankState, type Steps } from "./rank-state.ts";
import { receiveNow, startReceive } from "./receives.ts";
import { sendCopy, sendNow, startSend } from "./sends.ts";

export function* interpret(script: Script, process: SimProcess, observation: Observation): Steps {
  const state = new RankState(script, process, observation);
  for (const action of script.actions[process.rank]!) yield* perform(state, action);
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
      return;
    default:
      unreachable(action);
  }
}

function* wait({ pending, core }: RankState, requests: readonly number[], inOrder: boolean): Steps {
  const left = new Set(requests);
  const { engine } = core;
  const isComplete = (request: number): boolean => engine.isComplete(pending.get(request)!.record);
  while (left.size !== 0) {
    const [first] = left;
    if (inOrder) yield pending.get(first!)!.record;
    else {
      const describe = (): string =>
        [...left].map((request) => describeRequest(engine.records, pending.get(request)!.record)).join("; or: ");
      yield { kind: "until", describe, ready: () => [...left].some(isComplete) };
    }
    const request = inOrder ? first! : [...left].find(isComplete)!;
    pending.get(request)!.end();
    pending.delete(request);
    left.delete(request);
  }
}
