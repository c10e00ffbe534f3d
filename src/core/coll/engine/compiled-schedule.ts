/**
 * A schedule in the form that the executor reads: one array of numbers, so that a round allocates nothing and a cached schedule
 * is compact. Float64, because offsets may exceed 2^31.
 *
 * For each round: how many messages, how many local steps; then the messages, receives first (so that a message finds its
 * receive posted), 5 words each: code, peer, buffer, offset, bytes; then the local steps, 8 words each: code, bytes, and buffer
 * and offset of up to three regions (copy: from, to; reduce: left, right, into). The end is marked with −1.
 *
 * Putting receives first changes no matching: only the order of the sends and the order of the receives count.
 */
import { type CollectiveCall, unlike } from "./collective-call.ts";
import type { BufferName, Region, Round, Schedule, Step } from "./schedule.ts";

export interface CompiledSchedule {
  readonly words: Float64Array;
  readonly scratchBytes: number;
  /** What the rank called; undefined: nothing that others could compare with theirs. */
  readonly call: CollectiveCall | undefined;
}

export const messageWords = 5;
export const localWords = 8;

/** Codes of steps. LOCAL_GROUP is added to messages within the rank's own group of an inter-communicator. */
export const StepCode = { SEND: 0, RECEIVE: 1, COPY: 2, REDUCE: 3, LOCAL_GROUP: 16 } as const;

export const BufferCode = { send: 0, receive: 1, scratch: 2 } as const satisfies Record<BufferName, number>;

/** Every send of a schedule, in the order in which the executor starts them. */
export function forEachSend({ words }: CompiledSchedule, visit: (peer: number, local: boolean) => void): void {
  for (let at = 0; words[at]! >= 0; ) {
    const messages = words[at]!;
    const locals = words[at + 1]!;
    at += 2;
    for (let message = 0; message < messages; message++, at += messageWords) {
      if (words[at] === StepCode.SEND) visit(words[at + 1]!, false);
      else if (words[at] === StepCode.SEND + StepCode.LOCAL_GROUP) visit(words[at + 1]!, true);
    }
    at += locals * localWords;
  }
}

/** How many messages a schedule sends to one rank, and receives from it. `local`: a rank of the own group. */
export function messagesWith(
  { words }: CompiledSchedule,
  rank: number,
  local: boolean,
): { readonly sends: number; readonly receives: number } {
  const group = local ? StepCode.LOCAL_GROUP : 0;
  let sends = 0;
  let receives = 0;
  for (let at = 0; words[at]! >= 0; ) {
    const messages = words[at]!;
    const locals = words[at + 1]!;
    at += 2;
    for (let message = 0; message < messages; message++, at += messageWords) {
      if (words[at + 1] !== rank) continue;
      if (words[at] === StepCode.SEND + group) sends++;
      else if (words[at] === StepCode.RECEIVE + group) receives++;
    }
    at += locals * localWords;
  }
  return { sends, receives };
}

/** The same messages with 0 bytes each, and no local steps. */
export function emptied({ words, call }: CompiledSchedule): CompiledSchedule {
  const kept: number[] = [];
  for (let at = 0; words[at]! >= 0; ) {
    const messages = words[at]!;
    const locals = words[at + 1]!;
    kept.push(messages, 0);
    at += 2;
    for (let message = 0; message < messages; message++, at += messageWords) {
      kept.push(words[at]!, words[at + 1]!, BufferCode.scratch, 0, 0);
    }
    at += locals * localWords;
  }
  kept.push(-1);
  return {
    words: new Float64Array(kept),
    scratchBytes: 0,
    call: call === undefined ? call : { ...call, bytes: call.bytes === unlike ? unlike : 0 },
  };
}

const groupCode = (step: Step & { kind: "send" | "receive" }): number =>
  step.group === "local" ? StepCode.LOCAL_GROUP : 0;

export function compileSchedule({ rounds, scratchBytes }: Schedule, call?: CollectiveCall): CompiledSchedule {
  const words: number[] = [];
  for (const round of rounds) compileRound(round, words);
  words.push(-1);
  return { words: new Float64Array(words), scratchBytes, call };
}

function compileRound(round: Round, words: number[]): void {
  const receives: number[] = [];
  const sends: number[] = [];
  const locals: number[] = [];
  const place = ({ buffer, offset }: Region) => [BufferCode[buffer], offset] as const;
  for (const step of round) {
    switch (step.kind) {
      case "send":
        sends.push(StepCode.SEND + groupCode(step), step.peer, ...place(step.from), step.from.bytes);
        break;
      case "receive":
        receives.push(StepCode.RECEIVE + groupCode(step), step.peer, ...place(step.to), step.to.bytes);
        break;
      case "copy":
        // A rank's own part may be longer than its place: the starter of the operation reports that, nothing is written beyond.
        locals.push(
          StepCode.COPY,
          Math.min(step.from.bytes, step.to.bytes),
          ...place(step.from),
          ...place(step.to),
          0,
          0,
        );
        break;
      case "reduce":
        locals.push(StepCode.REDUCE, step.into.bytes, ...place(step.left), ...place(step.right), ...place(step.into));
        break;
    }
  }
  words.push((receives.length + sends.length) / messageWords, locals.length / localWords);
  // One by one: a round of thousands of messages is too long for an argument list.
  for (const word of receives) words.push(word);
  for (const word of sends) words.push(word);
  for (const word of locals) words.push(word);
}
