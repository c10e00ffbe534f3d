/** Choices: results that may differ in a second run. A protocol that replays is asked first. */
import { assert } from "../../core/base/assert.ts";
import type { RecordId } from "../../core/base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../../core/base/constants.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { ChoiceKind, type Choices } from "../../core/ft/choices.ts";
import { R_PEER, R_SEQUENCE } from "../../core/request/records.ts";
import { describeRequest } from "../describe-request.ts";
import type { ReceivePlan } from "../script/message-plan.ts";
import type { Steps } from "../sim-process.ts";
import type { ScriptState } from "./script-state.ts";

/** As MPI_Waitany: which of some requests is complete, by its place in the list. */
export class AnyChoice {
  /** −1: not made before, as far as this life knows; a life that begins in the middle of it asks again. */
  private known = -1;

  *run(state: ScriptState, records: readonly RecordId[]): Steps<number> {
    const { engine, choices } = state.core;
    if (choices !== null && this.known < 0) yield* awaitChoice(state, choices);
    if (this.known < 0) this.known = choices?.replay(ChoiceKind.ANY)?.[0] ?? -1;
    let index = this.known;
    if (index >= 0) yield records[index]!;
    else {
      const describe = (): string => records.map((record) => describeRequest(engine.records, record)).join("; or: ");
      const isComplete = (record: RecordId): boolean => engine.isComplete(record);
      yield { kind: "until", describe, ready: () => records.some(isComplete) };
      index = records.findIndex(isComplete);
      choices?.made(ChoiceKind.ANY, [index]);
    }
    state.observe(index);
    return index;
  }
}

/** As MPI_Probe or MPI_Mprobe: the envelope, still in its queue; −1: a death or a revocation ended the probe. */
export class ProbeChoice {
  /** As in `AnyChoice`. */
  private known: readonly number[] | null = null;

  *run(state: ScriptState, { source, tag, communicator }: ReceivePlan): Steps<RecordId> {
    const { engine, failures } = state.core;
    const comm = state.communicator(communicator);
    // A probe of a named source is no choice.
    const choices = source === ANY_SOURCE ? state.core.choices : null;
    if (choices !== null && this.known === null) yield* awaitChoice(state, choices);
    this.known ??= choices?.replay(ChoiceKind.PROBE) ?? null;
    const { known } = this;
    let envelope = -1 as RecordId;
    yield state.process.until("a probe to find something", () => {
      envelope = known ? engine.envelopes.of(known[0]!, known[1]!) : engine.probe(source, tag, comm.context);
      return envelope >= 0 || failures.errorOfProbe(comm, state.rankIn(communicator, source)) !== 0;
    });
    if (choices === null || envelope < 0) return envelope;
    const outcome = nameOf(state, envelope);
    if (known === null) choices.made(ChoiceKind.PROBE, outcome);
    state.observe(...outcome);
    return envelope;
  }
}

/** A choice may be made by another process. */
function* awaitChoice(state: ScriptState, choices: Choices): Steps {
  if (!choices.isReady) yield state.process.until("a choice to be made elsewhere", () => choices.isReady);
}

function nameOf({ core }: ScriptState, envelope: RecordId): [number, number] {
  const { records } = core.engine;
  return [records.get(envelope, R_PEER), records.get(envelope, R_SEQUENCE)];
}

/**
 * As MPI_Request_get_status of unfinished requests, a few times, and MPI_Iprobe: only under a protocol that records the
 * answers.
 */
export function* lookAround(state: ScriptState): Steps {
  const { core } = state;
  if (core.choices === null) return;
  let looks = 0;
  for (const { record } of state.pending.values()) {
    if (++looks > looksMax) break;
    yield* test(state, record);
  }
  yield* probeNow(state);
}

const looksMax = 3;

function* test(state: ScriptState, record: RecordId): Steps {
  const { engine } = state.core;
  const choices = state.core.choices!;
  yield* awaitChoice(state, choices);
  const known = choices.replay(ChoiceKind.TEST);
  if (known === undefined) {
    state.core.progress();
    if (engine.isComplete(record)) choices.made(ChoiceKind.TEST, []);
    else choices.nothing(ChoiceKind.TEST);
    state.observe(engine.isComplete(record) ? 1 : 0);
    return;
  }
  if (known !== null) yield record;
  state.observe(known === null ? 0 : 1);
}

function* probeNow(state: ScriptState): Steps {
  const { engine } = state.core;
  const choices = state.core.choices!;
  yield* awaitChoice(state, choices);
  const known = choices.replay(ChoiceKind.PROBE);
  if (known === null) {
    state.observe(-1);
    return;
  }
  if (known !== undefined) {
    assert(known.length === 2, "a probe found a message");
    yield state.process.until(`message ${known[1]} of rank ${known[0]}, which a probe has found before`, () => {
      return engine.envelopes.of(known[0]!, known[1]!) >= 0;
    });
    state.observe(...known);
    return;
  }
  state.core.progress();
  const envelope = engine.probe(ANY_SOURCE, ANY_TAG, state.core.world.context);
  const outcome = envelope < 0 ? null : nameOf(state, envelope);
  if (outcome === null) choices.nothing(ChoiceKind.PROBE);
  else choices.made(ChoiceKind.PROBE, outcome);
  state.observe(...(outcome ?? [-1]));
}

saves({ AnyChoice, ProbeChoice });
