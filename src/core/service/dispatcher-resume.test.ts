/** A job of which every process was killed, at every record of its journal: every rank begins another life, and nothing is held against it. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { Dispatcher, type DispatcherOptions, type DispatcherPorts } from "./dispatcher.ts";
import type { DispatcherState } from "./dispatcher-state.ts";
import type { JobRecord } from "./job-record.ts";
import { jobStateFrom } from "./job-state.ts";
import { placementOf } from "./placement.ts";

/** Tables of places and sets change when ranks are moved: every job has its own. */
const newOptions = (): DispatcherOptions => ({
  ranks: 4,
  nodes: 2,
  placement: placementOf([0, 0, 1, 1]),
  deaths: "replaced",
  setOf: [0, 1, 2, 3],
  heartbeatMs: 100,
  patienceMs: 250,
  starvedPatienceMs: 250,
  startPatienceMs: 400,
  starvedStartPatienceMs: 400,
  endPatienceMs: 500,
  timeoutMs: 20_000,
});
const killed = { kind: "signal", signal: "SIGKILL", signalNumber: 9 } as const;

const stateFrom = (records: readonly JobRecord[]): DispatcherState =>
  jobStateFrom(structuredClone([...records])).dispatcher;

/** A dispatcher, its journal, and the nodes that it wants to start again. */
class World {
  readonly records: JobRecord[];
  readonly restarted: number[] = [];
  readonly core: Dispatcher;
  isEnded = false;

  constructor(before: readonly JobRecord[] = []) {
    this.records = [...before];
    const nothing = (): void => {};
    const ports: DispatcherPorts = {
      // The first one names tables that change later.
      record: (record) => void this.records.push(structuredClone(record)),
      tell: nothing,
      left: nothing,
      restart: (node) => void this.restarted.push(node),
      restartRanks: nothing,
      endRanks: nothing,
      decided: nothing,
      survived: nothing,
      work: () => 0,
      end: nothing,
      kill: nothing,
      disown: nothing,
      ended: () => {
        this.isEnded = true;
      },
    };
    const state = before.length === 0 ? undefined : stateFrom(before);
    const predecessor = state === undefined ? undefined : { state, startMs: 0 };
    const { placement, setOf, nodes } = state ?? newOptions();
    const options = { ...newOptions(), placement, setOf, nodes: typeof nodes === "number" ? nodes : nodes.length };
    this.core = new Dispatcher(options, ports, 0, predecessor);
  }
}

/** A life with a loss, ranks that come to their end, and the end of the job. */
function lived(): World {
  const world = new World();
  const { core } = world;
  core.nodeEnded(1, killed, 10);
  core.rankEnded(0, 0, { kind: "vanished", code: 1 }, 20);
  for (let rank = 0; rank < 4; rank++) core.rankDone(rank, core.state.ranks[rank]!.incarnation, 30);
  for (let node = 0; node < 2; node++) core.nodeEnded(node, { kind: "exit", code: 0 }, 40);
  return world;
}

test("V7: whenever a job is switched off, every node is started again, and every rank has another life", () => {
  const { records, isEnded } = lived();
  equal(isEnded, true);
  for (let count = 1; count <= records.length; count++) {
    const before = stateFrom(records.slice(0, count));
    const world = new World(records.slice(0, count));
    world.core.resume(100);
    const { state } = world.core;
    deepEqual(world.restarted, [0, 1], `behind record ${count - 1}`);
    equal(state.outcome, undefined);
    for (const [rank, { incarnation, state: stands }] of state.ranks.entries()) {
      equal(stands, "running");
      equal(incarnation, before.ranks[rank]!.incarnation + 1);
    }
    deepEqual(
      state.nodes.map(({ gone }) => gone),
      [false, false],
    );
    deepEqual(stateFrom(world.records), state, "its journal says all that it knows");
  }
});

test("V7: it may be switched off any number of times", () => {
  let { records } = lived();
  for (let times = 0; times < 20; times++) {
    const world = new World(records);
    world.core.resume(100);
    deepEqual(world.restarted, [0, 1], `time ${times}: ${JSON.stringify(world.core.outcome)}`);
    records = world.records;
  }
});

test("V7: a move that was written down is carried out, whether or not the falls that follow from it were", () => {
  for (const onto of [0, 2]) {
    const moving = new World();
    const { core } = moving;
    const begun = moving.records.length;
    core.moveRanks([2], onto, null);
    core.restartMoved(onto, 10);
    core.leftByMoved(1, 10);
    for (let count = begun + 1; count <= moving.records.length; count++) {
      const world = new World(moving.records.slice(0, count));
      world.core.resume(100);
      const { state } = world.core;
      deepEqual([...state.placement], [0, 0, onto, 1]);
      deepEqual(
        [...world.restarted].sort(),
        onto === 2 ? [0, 1, 2] : [0, 1],
        `onto ${onto}, behind record ${count - 1}`,
      );
      for (const [rank, { incarnation }] of state.ranks.entries()) ok(incarnation > 0, `rank ${rank} begins again`);
      deepEqual(stateFrom(world.records), state, "its journal says all that it knows");
    }
  }
});
