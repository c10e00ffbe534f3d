/**
 * Every world of a few messages: whenever a word may move or a process may crash, both ways are tried. The two properties of the paper's
 * Theorem 2 hold in all of them, and every world comes to its end.
 */
import { equal, match, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../../test/long.ts";
import type { Beginning } from "../protocol.ts";
import { ChannelMemoryProtocol } from "./channel-memory-protocol.ts";
import { ModelWorld, type NewModelProtocol, type Step } from "./testing/model-world.ts";

interface Explored {
  readonly programs: readonly (readonly Step[])[];
  readonly memories: number;
  readonly crashesMax: number;
  /** Messages and events that are in memory at most; all of a few unless given. */
  readonly itemsMax?: number;
  readonly newProtocol?: NewModelProtocol;
  readonly statesMax?: number;
}

type Action = (world: ModelWorld) => void;

const real: NewModelProtocol = (options, ports) => new ChannelMemoryProtocol(options, ports);

/** What can happen now, named by numbers that mean the same in every world that has come the same way. */
function actionsOf(world: ModelWorld, crashesMax: number): Action[] {
  const actions: Action[] = [];
  for (const [rank, { ends }] of world.workers.entries()) {
    for (const [memory, end] of ends.entries()) {
      const { unsent, nextFrame } = end;
      if (unsent > 0) actions.push(({ workers }) => void workers[rank]!.ends[memory]!.give());
      if (unsent > nextFrame) actions.push(({ workers }) => void workers[rank]!.ends[memory]!.give(nextFrame));
      if (end.hasNews) actions.push(({ workers }) => void workers[rank]!.ends[memory]!.fetch());
    }
    if (world.crashes >= crashesMax || world.workers[rank]!.isDone) continue;
    // Its connections lose all that was on its way, the end of it in the middle of a frame, or nothing.
    for (const share of [0, 0.5, 1]) {
      actions.push((there) => {
        for (const end of there.workers[rank]!.ends) end.give(Math.floor(share * end.unsent));
        there.crash(rank);
      });
    }
  }
  if (world.crashes < crashesMax) {
    for (const memory of world.memories.keys()) {
      if (world.workers.every(({ ends }) => ends[memory]!.isTaken)) actions.push((there) => there.crashMemory(memory));
    }
  }
  return actions;
}

function explore({ programs, memories, crashesMax, itemsMax = 100, newProtocol = real, statesMax = 1e6 }: Explored): {
  states: number;
  ends: number;
  problem: string;
} {
  const seen = new Set<string>();
  const paths: number[][] = [[]];
  let ends = 0;
  const at = (path: readonly number[]): ModelWorld => {
    const world = new ModelWorld({ programs, memories, newProtocol, itemsMax });
    for (const worker of world.workers) worker.run();
    for (const choice of path) {
      actionsOf(world, crashesMax)[choice]!(world);
      for (const worker of world.workers) worker.run();
    }
    return world;
  };
  for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
    const world = at(path);
    const said = world.digest;
    if (world.problem !== "") return { states: seen.size, ends, problem: `${world.problem}: ${path.join(" ")}` };
    if (seen.has(said)) continue;
    seen.add(said);
    if (seen.size >= statesMax) break;
    if (world.isDone) ends++;
    const count = actionsOf(world, crashesMax).length;
    // Words that may move always can: whoever waits for others waits for words.
    if (!world.isDone && actionsOf(world, 0).length === 0)
      return { states: seen.size, ends, problem: `stuck: ${path.join(" ")}` };
    for (let choice = 0; choice < count; choice++) paths.push([...path, choice]);
  }
  return { states: seen.size, ends, problem: "" };
}

const answers: readonly (readonly Step[])[] = [
  [["send", 1], ["send", 1], ["recv"], ["print"]],
  [["recv"], ["poll"], ["recv"], ["send", 0], ["print"]],
];
const anySource: readonly (readonly Step[])[] = [
  [["send", 2]],
  [["send", 2], ["recv"]],
  [["recv"], ["recv"], ["send", 1], ["print"]],
];
const synchronous: readonly (readonly Step[])[] = [
  [["ssend", 1], ["poll"], ["print"]],
  [["recv"], ["send", 0]],
];

describe("channel memories, every world of a few messages", () => {
  const cases: [string, Explored][] = [
    ["an answer that depends on a look", { programs: answers, memories: 1, crashesMax: 1 }],
    ["the same with a memory for each", { programs: answers, memories: 2, crashesMax: 1 }],
    ["receives from any source", { programs: anySource, memories: 1, crashesMax: 1 }],
    ["a synchronous send", { programs: synchronous, memories: 2, crashesMax: 1 }],
    ["one message in memory", { programs: answers, memories: 1, crashesMax: 1, itemsMax: 1 }],
    ["two messages in memory", { programs: anySource, memories: 1, crashesMax: 1, itemsMax: 2 }],
    ["a synchronous send, nothing in memory", { programs: synchronous, memories: 2, crashesMax: 1, itemsMax: 0 }],
    ["three messages in memory", { programs: answers, memories: 1, crashesMax: 1, itemsMax: 3 }],
  ];
  for (const [name, explored] of cases) {
    it(`V3 V6 §3.5 logging and silent re-execution hold: ${name}`, () => {
      const { problem, ends, states } = explore({ ...explored, statesMax: tries(120, 1e6) });
      equal(problem, "");
      ok(ends > 0 && states > 100, `${states} states, ${ends} ends`);
    });
  }

  it("finds a protocol that lets a line leave before its choices are with the home memory", () => {
    class Hasty extends ChannelMemoryProtocol {
      override writeMayLeave(): boolean {
        return true;
      }
    }
    const newProtocol: NewModelProtocol = (options, ports) => new Hasty(options, ports);
    const { problem } = explore({ programs: answers, memories: 1, crashesMax: 1, newProtocol });
    match(problem, /^line 0 of 1 is another one/);
  });

  it("finds a protocol that says messages again, without asking which are there", () => {
    class Loud extends ChannelMemoryProtocol {
      override begin(beginning: Beginning): void {
        super.begin({ ...beginning, incarnation: 0 });
      }
    }
    const newProtocol: NewModelProtocol = (options, ports) => new Loud(options, ports);
    const { problem } = explore({ programs: anySource, memories: 1, crashesMax: 1, newProtocol });
    match(problem, /^a message was said again/);
  });
});
