/**
 * The means by which builders write schedules: small constructors for steps, and `Rounds`, which keeps two promises of every
 * schedule, so that builders need not think of them: nothing of 0 bytes moves unless it is explicitly asked for, and no round
 * is empty.
 */
import type { Blocks, BufferName, Region, Round, Schedule, Step } from "./schedule.ts";

export const region = (buffer: BufferName, offset: number, bytes: number): Region => ({ buffer, offset, bytes });

/** A run of bytes inside a region; `offset` counts from the region's start. */
export const part = (whole: Region, offset: number, bytes: number): Region => ({
  buffer: whole.buffer,
  offset: whole.offset + offset,
  bytes,
});

/** One rank's block in a buffer laid out by `blocks`. */
export const block = (buffer: BufferName, blocks: Blocks, index: number): Region => ({
  buffer,
  offset: blocks.offsets[index]!,
  bytes: blocks.bytes[index]!,
});

/** Blocks one behind the other, without gaps. */
export function packed(bytes: readonly number[]): Blocks {
  const offsets: number[] = [];
  let offset = 0;
  for (const length of bytes) {
    offsets.push(offset);
    offset += length;
  }
  return { bytes, offsets };
}

export const equalBlocks = (count: number, bytes: number): Blocks => packed(new Array<number>(count).fill(bytes));

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

export const send = (peer: number, from: Region): Step => ({ kind: "send", peer, from });
export const receive = (peer: number, to: Region): Step => ({ kind: "receive", peer, to });
export const copy = (from: Region, to: Region): Step => ({ kind: "copy", from, to });
export const reduce = (left: Region, right: Region, into: Region): Step => ({ kind: "reduce", left, right, into });

/** The region of a signal: no bytes. */
const nothing: Region = region("scratch", 0, 0);
export const signalTo = (peer: number): Step => send(peer, nothing);
export const signalFrom = (peer: number): Step => receive(peer, nothing);

function moves(step: Step): boolean {
  switch (step.kind) {
    case "send":
    case "copy":
      return step.from.bytes > 0;
    case "receive":
      return step.to.bytes > 0;
    case "reduce":
      return step.into.bytes > 0;
  }
}

export const isMessage = (step: Step): boolean => step.kind === "send" || step.kind === "receive";

export class Rounds {
  readonly #rounds: Step[][] = [];

  /**
   * One more round. Steps of 0 bytes are left out (the peer leaves its half out too: both name the same size). A round of local
   * steps only joins the round before: local steps run after the messages there, as they would here.
   */
  add(...steps: Step[]): this {
    return this.#append(steps.filter(moves));
  }

  /**
   * A round whose messages are sent also with 0 bytes: signals of a barrier, and parts for which the two ranks may name
   * different lengths. So no rank waits for a message that the other left out.
   */
  signal(...steps: Step[]): this {
    return this.#append(steps);
  }

  /** Appends the rounds of another schedule. Its scratch space is the caller's business, see `compose.ts`. */
  follow(rounds: readonly Round[]): this {
    for (const round of rounds) this.#append([...round]);
    return this;
  }

  #append(steps: Step[]): this {
    if (steps.length === 0) return this;
    const last = this.#rounds.at(-1);
    if (last !== undefined && !steps.some(isMessage)) last.push(...steps);
    else this.#rounds.push(steps);
    return this;
  }

  schedule(scratchBytes = 0): Schedule {
    return { rounds: this.#rounds, scratchBytes };
  }
}
