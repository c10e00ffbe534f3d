/**
 * Light requests: those that a data plane has begun, and that no engine knows (docs/adr/0076-requests-in-the-data-plane.md). A send whose message
 * has left; a receive that waits for its message, or has it. They lie in words that the plane (real/data-plane/requests.wat) and this class
 * share; both run in the thread of the process, never at the same time.
 *
 * Before the engine does anything for the program it takes them all over, in the order in which they were begun (abi/adopted-requests.ts): so
 * nobody but the plane has to know them, and no image has any.
 *
 * Whoever begins a request, plane or engine, gives it the lowest of the first handles that is free (abi/handles/handles.ts): a life without a
 * plane, which may replay one that had one, has the same handles.
 */
import type { Pass } from "./pass.ts";

/** How many a process has at most. Full: the engine begins all others. */
export const lightRequestsMax = 64;

/** Words of the head, as requests.wat has them: those that are the plane's; of these, receives that wait; a bit for each place in use. */
const H_COUNT = 0;
const H_PENDING = 1;
const H_USED = 2;
/** A byte each: places of the receives that wait, in the order in which they were begun. */
const H_ORDER = 4;
/** Not 0: nobody has said yet which places are the engine's. */
const H_UNKNOWN = 20;
/** How many requests the engine begins before the plane tries again, and how many it was given last time. */
const H_SPARED = 21;
const H_SPARED_LAST = 22;
/** Of those, at first and at most. */
const sparedMin = 4;
const sparedMax = 64;
const headWords = 32;
/** Words of a request. */
const L_STATE = 0;
const L_BUFFER = 1;
const L_TAG = 4;
const L_COMMUNICATOR = 6;
const L_COUNT = 7;
const L_TYPE = 8;
const L_SOURCE = 9;
const L_STATUS_SOURCE = 10;
const L_STATUS_TAG = 11;
const L_STATUS_BYTES = 12;
/** Where a protocol numbers receives (`Pass.numbered`). */
const L_NUMBER = 14;
const requestWords = 16;

const State = { FREE: 0, PENDING: 1, RECEIVED: 2, SENT: 3, ENGINES: 4 } as const;

/** A light request as the engine is told of it. Ranks are those of the communicator. */
export interface LightRequest {
  readonly place: number;
  readonly kind: "pending" | "received" | "sent";
  /** Handles. */
  readonly communicator: number;
  readonly type: number;
  readonly buffer: number;
  readonly count: number;
  /** What a receive wants, or of one that has its message what came: PROC_NULL, nothing. */
  readonly source: number;
  readonly tag: number;
  readonly bytes: number;
  /** Of a receive, where a protocol numbers them; 0: it has none. */
  readonly number: number;
}

export class LightRequests {
  readonly words: Int32Array;
  private readonly pass: Pass;
  private readonly isSparing: boolean;
  /** How many requests the engine has taken over, for tests. */
  adoptions = 0;

  static readonly wordCount = headWords + lightRequestsMax * requestWords;

  /**
   * At first all places may be the engine's, of an image: `know` says which are. `isSparing`: requests often come in groups of which only some are the plane's. One that the engine takes over is
   * dearer than one that it begins, so after that it begins the next ones, twice as many each time.
   */
  constructor(words: Int32Array, pass: Pass, { isSparing }: { readonly isSparing: boolean }) {
    this.words = words.fill(0);
    this.pass = pass;
    this.isSparing = isSparing;
    for (let place = 0; place < lightRequestsMax; place++) this.taken(place);
    words[H_UNKNOWN] = 1;
  }

  /** Words of which one is not 0 where there is anything that the engine must take over, or say; and where receives wait. */
  static readonly any: readonly [number, number] = [H_COUNT, H_UNKNOWN];
  static readonly pending: readonly [number, number] = [H_PENDING, H_PENDING];

  /** How many there are that the engine does not know. */
  get count(): number {
    return this.words[H_COUNT]!;
  }

  /** Is that place a request's which the engine does not know? */
  has(place: number): boolean {
    const state = this.state(place);
    return state !== State.FREE && state !== State.ENGINES;
  }

  /** The engine has a request there, and none any more. */
  taken(place: number): void {
    this.put(place, State.ENGINES);
    const used = H_USED + (place >> 5);
    this.words[used] = this.words[used]! | (1 << (place & 31));
  }

  freed(place: number): void {
    this.put(place, State.FREE);
    const used = H_USED + (place >> 5);
    this.words[used] = this.words[used]! & ~(1 << (place & 31));
  }

  get isUnknown(): boolean {
    return this.words[H_UNKNOWN] !== 0;
  }

  /** The engine has these places, and no others. */
  know(isEngines: (place: number) => boolean): void {
    this.words[H_UNKNOWN] = 0;
    for (let place = 0; place < lightRequestsMax; place++) if (!isEngines(place)) this.freed(place);
  }

  /** All of them are the engine's from now on. Receives that wait come in their order. */
  adopt(): LightRequest[] {
    const { words } = this;
    const count = words[H_COUNT]!;
    const order = new Uint8Array(words.buffer, words.byteOffset + H_ORDER * 4, words[H_PENDING]!);
    const places = [...order];
    for (let place = 0; places.length < count; place++) {
      const state = this.state(place);
      if (state === State.RECEIVED || state === State.SENT) places.push(place);
    }
    const requests = places.map((place) => this.at(place));
    for (const place of places) this.taken(place);
    this.adoptions += places.length;
    if (this.isSparing) this.spare();
    words[H_COUNT] = 0;
    words[H_PENDING] = 0;
    this.pass.lightAdopted();
    return requests;
  }

  private spare(): void {
    const { words } = this;
    const spared = Math.min(sparedMax, Math.max(sparedMin, 2 * words[H_SPARED_LAST]!));
    words[H_SPARED] = spared;
    words[H_SPARED_LAST] = spared;
  }

  private at(place: number): LightRequest {
    const { words } = this;
    const at = headWords + place * requestWords;
    const state = words[at + L_STATE]!;
    const isPending = state === State.PENDING;
    return {
      place,
      kind: isPending ? "pending" : state === State.SENT ? "sent" : "received",
      communicator: words[at + L_COMMUNICATOR]!,
      type: words[at + L_TYPE]!,
      buffer: words[at + L_BUFFER]!,
      count: words[at + L_COUNT]!,
      source: words[at + (isPending ? L_SOURCE : L_STATUS_SOURCE)]!,
      tag: words[at + (isPending ? L_TAG : L_STATUS_TAG)]!,
      bytes: words[at + L_STATUS_BYTES]!,
      number: state === State.SENT ? 0 : words[at + L_NUMBER]!,
    };
  }

  private state(place: number): number {
    return this.words[headWords + place * requestWords + L_STATE]!;
  }

  private put(place: number, state: number): void {
    this.words[headWords + place * requestWords + L_STATE] = state;
  }
}
