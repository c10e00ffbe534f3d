/**
 * Where a rank is: a few words that the rank shares with its node. The rank writes them in waits that have lasted some time, and when
 * such a wait ends; a call that does not wait writes nothing. The node reads them when it is asked (`Where` in node-messages.ts).
 *
 * The writer makes the first word odd, writes, and makes it even again; a reader that sees it odd, or changed, reads once more. Ranks that
 * share a thread take turns millions of times: a change of turns is one word of the node's memory, which WebAssembly can write as well
 * (real/c-rank/turns.wat).
 */
import { ANY_TAG } from "../../core/base/constants.ts";
import { NO_PEER } from "../../core/process/awaited.ts";

const version = 0;
const state = 1;
const wait = 2;
const polls = 3;
const sinceLow = 4;
const flags = 5;
const kind = 6;
const peer = 7;
const tag = 8;
const requests = 9;
const callLength = 10;
const commLength = 11;
const wordCount = 12;
/** Bytes of the two names behind the words. */
const namesBytes = 160;
const nameBytesMax = namesBytes / 2;

const states = ["starting", "computing", "waiting", "over"] as const;
const kinds = ["receive", "send", "probe", "collective", "other"] as const;

/** In the low bits of a turn word, below as much of the clock as there is room for: 12 days. */
const Turn = { HAS_IT: 1, WAITS: 2 } as const;
const turnBits = 2;
const turnMsMask = 0x3fffffff;
/** Somebody may set the clock back. */
const turnMsMax = 1 << 29;
/**
 * The clock on the wall, for turns alone: no other needs so little before it is compiled (100 ns, where the machine's clock takes 1 µs), and
 * only people read it.
 */
export const turnClock: () => number = Date.now;

/** Of a rank that shares its thread: has it its turn, and since when? 0: the other words say more. */
export interface TurnWord {
  readonly words: Int32Array;
  readonly at: number;
}

const Flag = { UNMATCHED: 1, BLOCKED: 2, ONE_IS_ENOUGH: 4, DELIVERED: 8, ENDED: 16 } as const;

/** What a rank does, as its node sees it. Crosses the control link. */
export interface RankPlace {
  readonly rank: number;
  /** "over": its program has ended, or is in MPI_Finalize, and waits for the others. */
  readonly state: (typeof states)[number];
  /** How long the wait has lasted; of one that computes, since its last long wait, or since its start. */
  readonly forMs: number;
  /** Tells this wait from all others of this life. */
  readonly wait: number;
  /** How often the rank has looked, and found nothing, in this wait. */
  readonly polls: number;
  /** The function of MPI. */
  readonly call: string;
  readonly kind: (typeof kinds)[number];
  /** World rank, ANY_SOURCE or `NO_PEER`. */
  readonly peer: number;
  readonly tag: number;
  /** The name of the communicator. */
  readonly comm: string;
  /** How many requests it waits for. */
  readonly requests: number;
  /** It waits for one of them, not for all. */
  readonly isOneEnough: boolean;
  /** Nothing has come of what it waits for: only what the program of its peer still does can end the wait. */
  readonly isUnmatched: boolean;
  /** Nothing but a message can end the wait. */
  readonly isBlocked: boolean;
  /** All that it has sent is where it shall be. */
  readonly hasDelivered: boolean;
  /** "over": the program has come to its last line, not to MPI_Finalize alone. */
  readonly hasEnded: boolean;
}

/** What a rank writes; the rest of a `RankPlace` is made here and by the reader. */
type WrittenPlace = Omit<RankPlace, "rank" | "forMs" | "polls"> & { readonly sinceMs: number };

export const nowhere: WrittenPlace = {
  state: "computing",
  sinceMs: 0,
  wait: 0,
  call: "",
  kind: "other",
  peer: NO_PEER,
  tag: ANY_TAG,
  comm: "",
  requests: 0,
  isOneEnough: false,
  isUnmatched: false,
  isBlocked: false,
  hasDelivered: false,
  hasEnded: false,
};

export function createPlaceWords(): SharedArrayBuffer {
  return new SharedArrayBuffer(4 * wordCount + namesBytes);
}

export class PlaceWriter {
  readonly #words: Int32Array;
  readonly #names: Uint8Array;
  readonly #turn: TurnWord;
  readonly #encoder = new TextEncoder();

  constructor(shared: SharedArrayBuffer, turn: TurnWord) {
    this.#turn = turn;
    this.#words = new Int32Array(shared, 0, wordCount);
    this.#names = new Uint8Array(shared, 4 * wordCount);
  }

  /** Milliseconds of the machine's clock, which all threads of the machine share. */
  write(place: WrittenPlace): void {
    const words = this.#words;
    Atomics.add(words, version, 1);
    words[state] = states.indexOf(place.state);
    words[wait] = place.wait;
    words[sinceLow] = place.sinceMs | 0;
    words[flags] = flagsOf(place);
    words[kind] = kinds.indexOf(place.kind);
    words[peer] = place.peer;
    words[tag] = place.tag;
    words[requests] = place.requests;
    words[callLength] = this.#put(place.call, 0);
    words[commLength] = this.#put(place.comm, nameBytesMax);
    this.#putTurn(0);
    Atomics.add(words, version, 1);
  }

  /** It waits, and another rank of its thread runs. */
  giveWay(): void {
    this.#putTurn(((turnClock() & turnMsMask) << turnBits) | Turn.WAITS);
  }

  /** It has the thread again. */
  goOn(): void {
    this.#putTurn(((turnClock() & turnMsMask) << turnBits) | Turn.HAS_IT);
  }

  /** It has looked once more, and still waits. */
  polled(): void {
    Atomics.add(this.#words, polls, 1);
  }

  #putTurn(value: number): void {
    const { words, at } = this.#turn;
    words[at] = value;
  }

  #put(text: string, at: number): number {
    const bytes = this.#encoder.encode(text).subarray(0, nameBytesMax);
    this.#names.set(bytes, at);
    return bytes.length;
  }
}

function flagsOf({ isUnmatched, isBlocked, isOneEnough, hasDelivered, hasEnded }: WrittenPlace): number {
  return (
    (isUnmatched ? Flag.UNMATCHED : 0) |
    (isBlocked ? Flag.BLOCKED : 0) |
    (isOneEnough ? Flag.ONE_IS_ENOUGH : 0) |
    (hasDelivered ? Flag.DELIVERED : 0) |
    (hasEnded ? Flag.ENDED : 0)
  );
}

/** A writer is killed in the middle of it, or writes all the time: then the rank shows nothing. */
const readsMax = 100;

interface ReadPlaceOptions {
  readonly rank: number;
  /** Of the machine's clock. */
  readonly nowMs: number;
  /** Of the clock on the wall. */
  readonly turnMs?: number;
  /** Absent: the rank has its thread for itself. */
  readonly turn?: TurnWord;
}

export function readPlace(shared: SharedArrayBuffer, options: ReadPlaceOptions): RankPlace {
  const { rank, nowMs, turnMs = turnClock(), turn } = options;
  const words = new Int32Array(shared, 0, wordCount);
  const names = new Uint8Array(shared, 4 * wordCount);
  for (let i = 0; i < readsMax; i++) {
    const before = Atomics.load(words, version);
    if ((before & 1) !== 0) continue;
    const copy = words.slice();
    const inTurn = turn?.words[turn.at] ?? 0;
    // Shared bytes cannot be decoded where they are.
    const call = new TextDecoder().decode(names.slice(0, copy[callLength]));
    const comm = new TextDecoder().decode(names.slice(nameBytesMax, nameBytesMax + copy[commLength]!));
    // Not a load: reads before it could be later than it.
    if (Atomics.add(words, version, 0) !== before) continue;
    return inTurn === 0 ? placeOf(copy, { rank, call, comm, nowMs }) : placeInTurn(copy, inTurn, { rank, turnMs });
  }
  const { sinceMs: _, ...place } = nowhere;
  return { ...place, rank, polls: 0, forMs: 0 };
}

function placeInTurn(
  words: Int32Array,
  turn: number,
  { rank, turnMs }: { readonly rank: number; readonly turnMs: number },
): RankPlace {
  const { sinceMs: _, ...place } = nowhere;
  const forMs = ((turnMs & turnMsMask) - (turn >>> turnBits)) & turnMsMask;
  return {
    ...place,
    rank,
    state: (turn & Turn.WAITS) === 0 ? "computing" : "waiting",
    forMs: forMs > turnMsMax ? 0 : forMs,
    wait: words[wait]!,
    polls: words[polls]!,
  };
}

/** Does the rank wait at its end, and has it for so long? Asked often, of all ranks. */
export function isOverFor(shared: SharedArrayBuffer, ms: number, nowMs: number): boolean {
  const words = new Int32Array(shared, 0, wordCount);
  return states[words[state]!] === "over" && (((nowMs | 0) - words[sinceLow]!) | 0) > ms;
}

function placeOf(
  words: Int32Array,
  { rank, call, comm, nowMs }: { readonly rank: number; readonly call: string; readonly comm: string; nowMs: number },
): RankPlace {
  const has = (flag: number): boolean => (words[flags]! & flag) !== 0;
  return {
    rank,
    state: states[words[state]!] ?? "computing",
    // Of the clock only the low 32 bits are kept: 24 days.
    forMs: Math.max(0, ((nowMs | 0) - words[sinceLow]!) | 0),
    wait: words[wait]!,
    polls: words[polls]!,
    call,
    comm,
    kind: kinds[words[kind]!] ?? "other",
    peer: words[peer]!,
    tag: words[tag]!,
    requests: words[requests]!,
    isOneEnough: has(Flag.ONE_IS_ENOUGH),
    isUnmatched: has(Flag.UNMATCHED),
    isBlocked: has(Flag.BLOCKED),
    hasDelivered: has(Flag.DELIVERED),
    hasEnded: has(Flag.ENDED),
  };
}
