/** Runs a reduction on every rank and compares every result, bit for bit, with the canonical fold. */
import type { Schedule } from "../engine/schedule.ts";
import { type Message, rubbish, run } from "./collective-world.ts";
import { assertBytes, canonical, ranksOf, type TestReduction } from "./data.ts";

export interface ReductionCase {
  readonly size: number;
  readonly elements: number;
  readonly reduction: TestReduction;
  /** Which ranks pass IN_PLACE. */
  inPlace(rank: number): boolean;
  /** The part of the result that a rank gets; undefined: its receive buffer must not be touched. */
  resultOf?(rank: number, whole: Uint8Array): Uint8Array | undefined;
  build(rank: number, vector: { bytes: number; elementBytes: number; inPlace: boolean }): Schedule;
}

export function runReduction(given: ReductionCase): Message[] {
  const { size, elements, reduction, inPlace, resultOf = (_, whole) => whole, build } = given;
  const { elementBytes, combine } = reduction;
  const bytes = elements * elementBytes;
  const parts = ranksOf(size).map((rank) => reduction.contribution(rank, elements));
  const whole = canonical(parts, combine);
  const setups = ranksOf(size).map((rank) => {
    const schedule = build(rank, { bytes, elementBytes, inPlace: inPlace(rank) });
    const expected = resultOf(rank, whole);
    if (inPlace(rank)) return { schedule, receive: parts[rank]!.slice(), expected };
    const receive = expected === undefined ? {} : { receive: rubbish(expected.length) };
    return { schedule, send: parts[rank]!.slice(), expected, ...receive };
  });
  const messages = run(setups, { seed: size * 7 + elements, combine });
  for (const [rank, { receive, expected }] of setups.entries()) {
    if (expected === undefined) continue;
    const where = `${reduction.name} of ${elements} elements on rank ${rank} of ${size}`;
    assertBytes(receive?.subarray(0, expected.length), expected, where);
  }
  return messages;
}

export const never = (): boolean => false;
export const always = (): boolean => true;
