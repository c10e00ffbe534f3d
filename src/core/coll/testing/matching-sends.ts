/**
 * The invariant that lets all messages of an operation carry one tag: of any two ranks, the k-th message that one sends to the
 * other is the k-th that the other receives from it, and both name the same length. Also: regions lie in their scratch space,
 * only signals have 0 bytes, no round is empty, no rank sends to itself.
 *
 * Checks the schedules of all ranks of a communicator; `firstGroup` as in an inter-communicator whose ranks are counted
 * through. Throws at the first violation.
 */
import { assert } from "../../base/assert.ts";
import type { Region, Schedule, Step } from "../engine/schedule.ts";

export function checkMatching(schedules: readonly Schedule[], firstGroup?: number): void {
  const sent = new Map<number, number[]>();
  const received = new Map<number, number[]>();
  const rankOf = (rank: number, peer: number, group: "local" | undefined): number => {
    if (firstGroup === undefined) return peer;
    return rank < firstGroup === (group === "local") ? peer : peer + firstGroup;
  };
  for (const [rank, { rounds, scratchBytes }] of schedules.entries()) {
    for (const round of rounds) {
      assert(round.length > 0, "a round is empty");
      for (const step of round) {
        checkRegions(step, scratchBytes);
        if (step.kind !== "send" && step.kind !== "receive") continue;
        const peer = rankOf(rank, step.peer, step.group);
        if (peer === rank || !(peer in schedules)) throw new Error(`rank ${rank} names ${peer} as its peer`);
        if (step.kind === "send") note(sent, rank * schedules.length + peer, step.from.bytes);
        else note(received, peer * schedules.length + rank, step.to.bytes);
      }
    }
  }
  for (const pair of new Set([...sent.keys(), ...received.keys()])) {
    const [out, back] = [sent.get(pair) ?? [], received.get(pair) ?? []];
    const [from, to] = [Math.floor(pair / schedules.length), pair % schedules.length];
    const same = out.length === back.length && out.every((bytes, index) => bytes === back[index]);
    if (!same) throw new Error(`messages from ${from} to ${to} have lengths ${out}, receives ${back}`);
  }
}

function note(lengths: Map<number, number[]>, pair: number, bytes: number): void {
  const list = lengths.get(pair);
  if (list === undefined) lengths.set(pair, [bytes]);
  else list.push(bytes);
}

function checkRegions(step: Step, scratchBytes: number): void {
  const regions = regionsOf(step);
  const { bytes } = regions[0]!;
  const isLocal = step.kind === "copy" || step.kind === "reduce";
  const right = regions.every(
    (region) =>
      region.offset >= 0 &&
      region.bytes === bytes &&
      (region.buffer !== "scratch" || region.offset + bytes <= scratchBytes) &&
      (bytes > 0 || !isLocal),
  );
  // Not `assert`: its message would be built for every step of every schedule.
  if (!right) throw new Error(`a step is wrong, with ${scratchBytes} bytes of scratch: ${JSON.stringify(step)}`);
}

function regionsOf(step: Step): readonly Region[] {
  switch (step.kind) {
    case "send":
      return [step.from];
    case "receive":
      return [step.to];
    case "copy":
      return [step.from, step.to];
    case "reduce":
      return [step.left, step.right, step.into];
  }
}
