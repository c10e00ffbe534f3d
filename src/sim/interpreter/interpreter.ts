/** Runs one rank's part of a script and notes its observations. Each family of actions has a file of its own. */
import { assert, unreachable } from "../../core/base/assert.ts";
import { saves } from "../../core/base/saved-classes.ts";
import type { Action } from "../script/script.ts";
import type { Steps } from "../sim-process.ts";
import { CancelReceive, cancelSend, RaceReceive, raceAnswer, raceSend } from "./cancellations.ts";
import { AnyChoice, lookAround } from "./choices.ts";
import { Make, neededFor } from "./communicators.ts";
import { useFile } from "./file-uses.ts";
import { readInput } from "./input-reads.ts";
import { PartitionedReceive, PartitionedSend } from "./partitioned.ts";
import { CollectiveSeries, ReceiveSeries, SendSeries } from "./persistent.ts";
import { print } from "./prints.ts";
import { Probe, receiveAside, SetAside } from "./probes.ts";
import { ReceiveNow, startPlannedReceive } from "./receives.ts";
import type { Doing, ScriptState } from "./script-state.ts";
import { CollectiveNow, startCollective } from "./scripted-collective.ts";
import { SendNow, sendCopy, startPlannedSend } from "./sends.ts";
import { FileTogether, readPrefix, writeRecord } from "./shared-files.ts";

/** Actions after which a rank under a protocol that replays polls, as programs do. */
const actionsPerLook = 3;

/** Runs the rank from its present action: the first, or the one at which an image of it was taken. */
export function* interpret(state: ScriptState, rests: Rests | null = null): Steps {
  const { script, process } = state;
  const actions = script.actions[process.rank]!;
  for (;;) {
    if (state.doing !== null) yield* alert(state.doing.run(state), state, rests);
    state.doing = null;
    if (state.next > actions.length) return;
    if (rests?.isWanted() === true) yield* rests.rest();
    const isLast = state.next === actions.length;
    if (state.passes()) yield process.compute(1);
    const action = actions[state.next++];
    if (isLast) state.doing = new LastWait();
    else if (!state.hasGivenUp || isPossible(state, action!)) {
      if (state.next % actionsPerLook === 1) yield* lookAround(state);
      state.doing = yield* alert(perform(state, action!), state, null);
    }
  }
}

/** A rank may be told to come to rest in a wait, and continues to wait afterwards. */
export interface Rests {
  isWanted(): boolean;
  rest(): Steps;
}

/** The steps, with waits that end early where the rank has to rest or to give up; afterwards it continues to wait. */
function* alert<T>(steps: Steps<T>, state: ScriptState, rests: Rests | null): Steps<T> {
  // An image holds no call that is half made.
  const mustRest = (): boolean => rests?.isWanted() === true && !state.files.calls.isInterrupted;
  const isAlarmed = (): boolean => state.shallGiveUp || mustRest();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const wait = typeof step.value === "number" ? state.process.completion(step.value) : step.value;
    if (wait.kind === "compute" || wait.kind === "nap") {
      yield wait;
      continue;
    }
    // To look whether it is over may take a message, and be what alarms.
    let isOver = false;
    const look = (): boolean => {
      isOver = wait.ready();
      return isOver;
    };
    for (;;) {
      yield { ...wait, ready: () => isAlarmed() || look() };
      if (isOver || !isAlarmed()) break;
      if (state.shallGiveUp) state.giveUp();
      else if (rests !== null) yield* rests.rest();
    }
  }
}

/** For a rank that has given up: does it have the communicator, series or message that the action needs? */
function isPossible(state: ScriptState, action: Action): boolean {
  const { script, series, asides } = state;
  const has = (communicator: number): boolean => state.hasCommunicator(communicator);
  switch (action.kind) {
    case "send":
    case "send-now":
    case "send-copy":
    case "race-send":
    case "init-send":
    case "init-parts":
      return has(script.messages[action.message]!.communicator);
    case "receive":
    case "receive-now":
    case "probe":
    case "set-aside":
    case "race-receive":
    case "race-answer":
    case "init-receive":
    case "init-all-parts":
      return has(script.receives[action.receive]!.communicator);
    case "receive-aside":
      return asides.has(action.receive);
    case "collective":
    case "collective-now":
    case "init-collective":
      return has(script.collectives[action.collective]!.communicator);
    case "start-send":
    case "start-receive":
    case "start-collective":
    case "free-series":
    case "ready":
      return series.has(action.series);
    case "cancel-receive":
    case "cancel-send":
    case "free":
      return has(action.communicator);
    case "make":
      return neededFor(action.how, state.rank).every(has);
    case "wait":
    case "compute":
    case "print":
    case "file":
    case "input":
      return true;
    case "file-open":
      return has(script.sharedFiles[action.file]!.communicator);
    case "file-atomic":
    case "file-seek":
    case "file-ordered":
    case "file-sync":
    case "file-size":
    case "file-close":
    case "file-write":
    case "file-read":
      return state.files.has(action.file);
    default:
      return unreachable(action);
  }
}

/** The program is over; its buffered messages are not. */
class LastWait implements Doing {
  *run({ process, pending, buffered }: ScriptState): Steps {
    assert(pending.size === 0, "a script ends with requests that nobody waited for");
    yield process.until("its buffered messages to leave", () => buffered.isEmpty);
  }
}

/** The rest of an action that waits. Null: the action is over; if it waited, the rank could not be captured there. */
function* perform(state: ScriptState, action: Action): Steps<Doing | null> {
  const { pending, series } = state;
  switch (action.kind) {
    case "send":
      pending.set(action.request, startPlannedSend(state, action.message));
      return null;
    case "send-now":
      return new SendNow(action.message);
    case "send-copy":
      sendCopy(state, action.message);
      return null;
    case "receive":
      pending.set(action.request, startPlannedReceive(state, action.receive));
      return null;
    case "receive-now":
      return new ReceiveNow(action.receive);
    case "probe":
      return new Probe(action.receive, action.matched);
    case "set-aside":
      return new SetAside(action.receive);
    case "receive-aside":
      pending.set(action.request, receiveAside(state, action.receive));
      return null;
    case "init-send":
      series.set(action.series, new SendSeries(state, action.message));
      return null;
    case "start-send":
      pending.set(action.request, series.get(action.series)!.start(state, action.message));
      return null;
    case "init-receive":
      series.set(action.series, new ReceiveSeries(state, action.receive));
      return null;
    case "start-receive":
      pending.set(action.request, series.get(action.series)!.start(state, action.receive));
      return null;
    case "init-parts":
      series.set(action.series, new PartitionedSend(state, action));
      return null;
    case "ready":
      partsOf(state, action.series).setReady(state, action.part);
      return null;
    case "init-all-parts":
      series.set(action.series, new PartitionedReceive(state, action));
      return null;
    case "init-collective":
      series.set(action.series, new CollectiveSeries(state, action.collective));
      return null;
    case "start-collective":
      pending.set(action.request, series.get(action.series)!.start(state, action.collective));
      return null;
    case "free-series":
      series.get(action.series)!.free();
      return null;
    case "wait":
      return new Wait(
        state.hasGivenUp ? action.requests.filter((request) => pending.has(request)) : action.requests,
        action.inOrder,
      );
    case "cancel-receive":
      return new CancelReceive(action);
    case "cancel-send":
      yield* cancelSend(state, action);
      return null;
    case "race-receive":
      return new RaceReceive(action);
    case "race-send":
      yield* raceSend(state, action);
      return null;
    case "race-answer":
      yield* raceAnswer(state, action);
      return null;
    case "collective":
      pending.set(action.request, startCollective(state, action.collective));
      return null;
    case "collective-now":
      return new CollectiveNow(action.collective);
    case "make":
      return new Make(action.communicator, action.how);
    case "free":
      state.freeCommunicator(action.communicator);
      return null;
    case "compute":
      yield state.process.compute(action.forNs);
      yield* lookAround(state);
      return null;
    case "print":
      yield* print(state, action.endsLine);
      return null;
    case "file":
      yield* useFile(state, action.op);
      return null;
    case "file-write":
      yield* writeRecord(state, action);
      return null;
    case "file-read":
      yield* readPrefix(state, action);
      return null;
    case "file-open":
    case "file-atomic":
    case "file-seek":
    case "file-ordered":
    case "file-sync":
    case "file-size":
    case "file-close":
      return new FileTogether(action);
    case "input":
      yield* readInput(state, action.room);
      return null;
    default:
      return unreachable(action);
  }
}

function partsOf({ series }: ScriptState, number: number): PartitionedSend {
  const found = series.get(number);
  assert(found instanceof PartitionedSend, `series ${number} has no parts`);
  return found;
}

class Wait implements Doing {
  private readonly left: number[];
  private readonly inOrder: boolean;
  private choice = new AnyChoice();

  constructor(requests: readonly number[], inOrder: boolean) {
    this.left = [...requests];
    this.inOrder = inOrder;
  }

  *run(state: ScriptState): Steps {
    const { pending } = state;
    const { left, inOrder } = this;
    while (left.length !== 0) {
      const records = left.map((request) => pending.get(request)!.record);
      const index = inOrder ? 0 : yield* this.choice.run(state, records);
      if (inOrder) yield records[0]!;
      this.choice = new AnyChoice();
      const [request] = left.splice(index, 1);
      pending.get(request!)!.end(state);
      pending.delete(request!);
    }
  }
}

saves({ LastWait, Wait });
