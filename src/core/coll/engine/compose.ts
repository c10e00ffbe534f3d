/**
 * Schedules made of schedules: an algorithm for p ranks runs on a subset of them (the leaders of nodes, the members of one
 * node, one group of an inter-communicator), on other buffers, one after another.
 */
import { Rounds } from "./rounds.ts";
import type { BufferName, Region, Schedule, Step } from "./schedule.ts";

/** Where the inner schedule's buffer begins in the outer one's. */
export interface Base {
  readonly buffer: BufferName;
  readonly offset: number;
}

interface Embedding {
  /** The rank in the communicator of each rank of the inner schedule; without the list they are the same. */
  readonly members?: readonly number[];
  readonly group?: "local";
  readonly send?: Base;
  readonly receive?: Base;
  /** Where the inner schedule's scratch space begins in the outer one's. */
  readonly scratchOffset?: number;
}

/** The same schedule among other ranks, on other buffers. `scratchBytes` includes the bytes before `scratchOffset`. */
export function embed(inner: Schedule, embedding: Embedding): Schedule {
  const scratchOffset = embedding.scratchOffset ?? 0;
  const bases: Record<BufferName, Base> = {
    send: embedding.send ?? { buffer: "send", offset: 0 },
    receive: embedding.receive ?? { buffer: "receive", offset: 0 },
    scratch: { buffer: "scratch", offset: scratchOffset },
  };
  const move = (region: Region): Region => {
    const base = bases[region.buffer];
    return { buffer: base.buffer, offset: base.offset + region.offset, bytes: region.bytes };
  };
  const group = embedding.group === undefined ? {} : { group: embedding.group };
  const rankOf = (peer: number): number => embedding.members?.[peer] ?? peer;
  const moveStep = (step: Step): Step => {
    switch (step.kind) {
      case "send":
        return { kind: "send", peer: rankOf(step.peer), from: move(step.from), ...group };
      case "receive":
        return { kind: "receive", peer: rankOf(step.peer), to: move(step.to), ...group };
      case "copy":
        return { kind: "copy", from: move(step.from), to: move(step.to) };
      case "reduce":
        return { kind: "reduce", left: move(step.left), right: move(step.right), into: move(step.into) };
    }
  };
  return {
    rounds: inner.rounds.map((round) => round.map(moveStep)),
    scratchBytes: inner.scratchBytes === 0 ? 0 : scratchOffset + inner.scratchBytes,
  };
}

export const emptySchedule: Schedule = { rounds: [], scratchBytes: 0 };

/**
 * One schedule after another. All of them use the same scratch space: a schedule must not use bytes that an earlier one left
 * there for a later one.
 */
export function sequence(...schedules: readonly Schedule[]): Schedule {
  const rounds = new Rounds();
  for (const schedule of schedules) rounds.follow(schedule.rounds);
  return rounds.schedule(Math.max(...schedules.map((schedule) => schedule.scratchBytes)));
}
