/**
 * The non-blocking collectives that a member has started on a communicator, as far as some member may lack them (thesis §5.3.4): what each was,
 * so that another member can take part in it later with a buffer of its own; contents do not matter then. All members start them in one order,
 * so the list of each is the beginning of the longest.
 */
import type { Pointer, RecordId } from "../base/brand.ts";
import type { EqualKind, ReductionKind } from "../process/collective-form.ts";

const kinds = [
  "barrier",
  "bcast",
  "gather",
  "scatter",
  "allgather",
  "alltoall",
  "reduce",
  "allreduce",
  "reduce_scatter_block",
  "scan",
  "exscan",
] as const satisfies readonly (EqualKind | ReductionKind)[];
export type RecentKind = (typeof kinds)[number];

/** A collective in words that mean the same to every member. */
export interface RecentCall {
  readonly kind: RecentKind;
  /** Length of one block, and the root; 0 where there is none. */
  readonly bytes: number;
  readonly root: number;
  /** Of reductions. 0: it is none. */
  readonly elementBytes: number;
  /** Its number among the collectives of the communicator, which is the tag of its messages. */
  readonly tag: number;
}

/** One that was started here. */
export interface StartedCollective extends RecentCall {
  /** −1: it is over, and its request given back. */
  request: RecordId;
  /** The buffers that it works on, until it is over. */
  readonly buffers: readonly Pointer[];
}

/** Of one call in a message. */
export const callWords = 5;

export function wordsOfCalls(calls: readonly RecentCall[]): number[] {
  const words: number[] = [];
  for (const call of calls) addCall(words, call);
  return words;
}

/** The words of a call behind others. */
export function addCall(words: number[], { kind, bytes, root, elementBytes, tag }: RecentCall): void {
  words.push(kinds.indexOf(kind), bytes, root, elementBytes, tag);
}

export function callsOfWords(words: readonly number[]): RecentCall[] {
  const calls: RecentCall[] = [];
  for (let at = 0; at + callWords <= words.length; at += callWords) {
    const [code, bytes, root, elementBytes, tag] = words.slice(at) as [number, number, number, number, number];
    const kind = kinds[code];
    if (kind !== undefined) calls.push({ kind, bytes, root, elementBytes, tag });
  }
  return calls;
}

/** How many blocks the buffers of a call have at a member: those it sends from, and those it receives to. */
export function blocksOf(kind: RecentKind, size: number): { readonly sent: number; readonly received: number } {
  switch (kind) {
    case "barrier":
      return { sent: 0, received: 0 };
    case "bcast":
      return { sent: 0, received: 1 };
    case "gather":
    case "allgather":
      return { sent: 1, received: size };
    case "scatter":
    case "reduce_scatter_block":
      return { sent: size, received: 1 };
    case "alltoall":
      return { sent: size, received: size };
    default:
      return { sent: 1, received: 1 };
  }
}

/** Kinds whose result, at every member, is made of something of every member. */
const meetings: ReadonlySet<RecentKind> = new Set(["allgather", "alltoall", "allreduce", "reduce_scatter_block"]);

/** Does no member complete it before every member has started? (Where there are no bytes there are no messages, but in a barrier.) */
export const isMeeting = ({ kind, bytes }: Pick<RecentCall, "kind" | "bytes">): boolean =>
  kind === "barrier" || (bytes > 0 && meetings.has(kind));

export class RecentCollectives {
  /** From this number on; all members have started those before. */
  #first = 0;
  #started: StartedCollective[] = [];

  /** How many were started here, all together. */
  get count(): number {
    return this.#first + this.#started.length;
  }

  /** The number of the collective. */
  add(started: StartedCollective): number {
    this.#started.push(started);
    return this.count - 1;
  }

  /** Those that were started here from that number on, as far as they are remembered. */
  since(number: number): readonly StartedCollective[] {
    return this.#started.slice(Math.max(0, number - this.#first));
  }

  /** A collective with that number is over here: was it one that every member has started? Then so were those before. */
  completed(number: number): void {
    const started = this.#started[number - this.#first];
    if (started !== undefined && isMeeting(started)) this.#forgetTo(number + 1);
  }

  /** All members have started what this one has: they have all come to a later call. */
  allHave(): void {
    this.#forgetTo(this.count);
  }

  #forgetTo(number: number): void {
    // Those under way are remembered: somebody must end them.
    while (this.#first < number && (this.#started[0]?.request ?? 0) < 0) {
      this.#started.shift();
      this.#first++;
    }
  }
}
