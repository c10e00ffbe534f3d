/**
 * The pass: words by which the engine permits a data plane (docs/adr/0020-a-data-plane-compiled-before-the-first-call.md) to send and
 * receive eager messages on its behalf, and what the plane must know for it. Both run in the thread of the process, never at the same
 * time, so no word needs an atomic operation.
 *
 * The pass is closed until somebody has looked at the whole process and found that the plane would do what the engine does; whatever
 * could make that untrue closes the pass where it happens, and need not know anything else. So a forgotten opening costs time, and only
 * a forgotten closing would be a mistake: those are the calls of `close` and `closeReceives`, and the stores to ways.
 *
 * A process without a plane has a pass of its own that nobody reads.
 */
import { assert } from "../base/assert.ts";

/** Bits of `P_STATE`. The plane sends with none but the second, and receives with none. */
const SENDS_CLOSED = 1;
const RECEIVES_CLOSED = 2;
/** The program is not between MPI_Init and MPI_Finalize, or its stack is being put back. */
const OUTSIDE = 4;
/** Receives of the plane's own are pending (light-requests.ts): they come before all others. The plane's, and no permission. */
const LIGHT_PENDING = 8;

/** Words of a pass, as plane.wat has them. */
const P_STATE = 0;
/** Eager sends since the last look at what has arrived. */
const P_EAGER_SENDS = 1;
/** Position of the next packet in the process's own ring: the transport's. */
export const P_POSITION = 2;
/** Messages that the plane has sent and received, for tests and benchmarks. */
const P_SENT = 3;
const P_RECEIVED = 4;
// Word 5 is plane.wat's own: packets that a receive has passed by in the ring, when it has found nothing and waits.
/** Receives of the program so far, where a protocol numbers them: protocol and plane count on. */
const P_NUMBERED = 6;
/** Receives from any source that the plane has recorded for the protocol, and that the protocol has not counted yet. */
const P_RECORDED = 7;
/** The plane would have made a call if the pass had been open. Where it makes few of them the pass is opened on demand alone. */
const P_WANTED = 8;
/** Sizes of predefined datatypes by handle, 0: not the plane's. */
const P_TYPES = 16;
const typeFirst = 0x200;
const typesMax = 256;
/** Communicators: a table with one place for each, which the next one with that place takes. */
const P_COMMUNICATORS = P_TYPES + typesMax;
const communicatorsMax = 16;
const communicatorWords = 4;
const C_CONTEXT = 1;
const C_SIZE = 2;
/** Byte address of the ranks of its members in the job; 0: they are 0, 1, 2, … */
const C_MEMBERS = 3;
/** By rank of the job: how a message travels there. */
const P_WAYS = P_COMMUNICATORS + communicatorsMax * communicatorWords;
const wayWords = 8;
/** The next number of that channel. */
const W_NEXT = 0;
/** Up to how many bytes a message may travel eagerly; −1: the engine must be asked. */
const W_EAGER = 1;
/** Where the plane puts its packets; 0: the plane has no way there. */
export const W_RING = 2;

/** The place of a communicator in the table. Handles of communicators that programs make count from 2²⁴. */
const placeOf = (handle: number): number => (handle + 3 * (handle >>> 24)) & (communicatorsMax - 1);

/** A communicator as the plane knows it. */
interface PassedCommunicator {
  readonly handle: number;
  readonly context: number;
  readonly size: number;
  /** Null: rank i of the communicator is rank i of the job. */
  readonly members: readonly number[] | null;
  /** Byte address of the process's seat at the communicator's board; 0: there is none. */
  readonly seat: number;
}

/** The part of the pass for collectives on boards (core/coll/engine/meeting-pass.ts). */
interface PassedMeetings {
  /** Has the plane begun the call that the engine gets next? */
  readonly isAtGate: boolean;
  /** Collectives that the plane has completed. */
  readonly completed: number;
  /** The communicator at that place has that seat. */
  publishSeat(place: number, seat: number): void;
}

interface PassOptions {
  readonly ranks: number;
  /** Where the words are in the memory that the plane sees; 0: there is no plane. */
  readonly address: number;
  /** For collectives on boards; null: the plane has none. */
  readonly meetings?: PassedMeetings | null;
  /** Most calls are not the plane's: it says when one would be. */
  readonly isOnDemand?: boolean;
}

export class Pass {
  readonly words: Int32Array;
  /** Is there a plane? */
  readonly isUsed: boolean;
  /** For collectives on boards; null: the plane has none. */
  readonly meetings: PassedMeetings | null;
  /** As `PassedCalls`: of the light request that the engine takes over. */
  adopting = 0;
  private readonly isOnDemand: boolean;
  private readonly ranks: number;
  /** Where the words are in the memory that the plane sees. */
  private readonly address: number;

  /** How many words the pass of a process has in a job of so many ranks. */
  static wordsFor(ranks: number): number {
    return P_WAYS + ranks * wayWords + communicatorsMax * ranks;
  }

  /** Byte offset of the first way, and from one to the next. */
  static readonly waysAt = P_WAYS * 4;
  static readonly wayBytes = wayWords * 4;

  static unused(): Pass {
    return new Pass(new Int32Array(P_WANTED + 1), { ranks: 0, address: 0 });
  }

  /** Whoever has a plane says of each way where it leads. */
  constructor(words: Int32Array, { ranks, address, meetings = null, isOnDemand = false }: PassOptions) {
    this.meetings = meetings;
    this.isOnDemand = isOnDemand;
    this.words = words;
    this.ranks = ranks;
    this.address = address;
    this.isUsed = address !== 0;
    words.fill(0, 0, P_WAYS);
    words[P_STATE] = SENDS_CLOSED | RECEIVES_CLOSED | OUTSIDE;
    words[P_WANTED] = 1;
  }

  // Permission

  close(): void {
    this.words[P_STATE] = this.words[P_STATE]! | SENDS_CLOSED | RECEIVES_CLOSED;
  }

  /** Messages may still be sent. */
  closeReceives(): void {
    this.words[P_STATE] = this.words[P_STATE]! | RECEIVES_CLOSED;
  }

  /** Is it worth a look whether it can be opened? */
  get isWanted(): boolean {
    return this.words[P_WANTED] !== 0;
  }

  /** Whoever calls this has looked: the plane may do the one, or both. */
  open(permission: { readonly sends: boolean; readonly receives: boolean }): void {
    const { sends, receives } = permission;
    const closed = (sends ? 0 : SENDS_CLOSED) | (sends && receives ? 0 : RECEIVES_CLOSED);
    this.words[P_STATE] = (this.words[P_STATE]! & (OUTSIDE | LIGHT_PENDING)) | closed;
    if (this.isOnDemand && closed === 0) this.words[P_WANTED] = 0;
  }

  /** The engine has all receives that were pending in the plane. */
  lightAdopted(): void {
    this.words[P_STATE] = this.words[P_STATE]! & ~LIGHT_PENDING;
  }

  /** May the program's calls go on without the engine at all? */
  setOutside(isOutside: boolean): void {
    const state = this.words[P_STATE]! & ~OUTSIDE;
    this.words[P_STATE] = isOutside ? state | OUTSIDE : state;
  }

  // Sends

  get eagerSends(): number {
    return this.words[P_EAGER_SENDS]!;
  }

  set eagerSends(sends: number) {
    this.words[P_EAGER_SENDS] = sends;
  }

  nextNumber(rank: number): number {
    return this.words[P_WAYS + rank * wayWords + W_NEXT]!;
  }

  setNextNumber(rank: number, number: number): void {
    this.words[P_WAYS + rank * wayWords + W_NEXT] = number;
  }

  /** Messages to that rank of up to so many bytes travel eagerly, until something changes. */
  openWay(rank: number, eagerBytesMax: number): void {
    if (this.isUsed) this.words[P_WAYS + rank * wayWords + W_EAGER] = eagerBytesMax;
  }

  /** Messages may have to travel in another way from now on. */
  /** Can the plane send to that rank, and receive from it, when it is permitted? */
  leadsTo(rank: number): boolean {
    return this.words[P_WAYS + rank * wayWords + W_RING] !== 0;
  }

  closeWays(): void {
    for (let rank = 0; rank < this.ranks; rank++) this.words[P_WAYS + rank * wayWords + W_EAGER] = -1;
  }

  // Arguments of calls

  /** Items of that predefined datatype lie side by side and have so many bytes each. */
  publishType(handle: number, bytes: number): void {
    assert(handle >= typeFirst && handle < typeFirst + typesMax, "predefined datatypes have the numbers of the ABI");
    this.words[P_TYPES + handle - typeFirst] = bytes;
  }

  knowsCommunicator(handle: number): boolean {
    return this.words[P_COMMUNICATORS + placeOf(handle) * communicatorWords] === handle;
  }

  publishCommunicator({ handle, context, size, members, seat }: PassedCommunicator): void {
    const { words, ranks, address } = this;
    if (size > ranks) return;
    const place = placeOf(handle);
    const membersAt = P_WAYS + ranks * wayWords + place * ranks;
    if (members !== null) words.set(members, membersAt);
    const at = P_COMMUNICATORS + place * communicatorWords;
    words[at] = handle;
    words[at + C_CONTEXT] = context;
    words[at + C_SIZE] = size;
    words[at + C_MEMBERS] = members === null ? 0 : address + membersAt * 4;
    this.meetings?.publishSeat(place, seat);
  }

  /** The handle is none any more. */
  forgetCommunicator(handle: number): void {
    if (this.isUsed && this.knowsCommunicator(handle)) {
      this.words[P_COMMUNICATORS + placeOf(handle) * communicatorWords] = 0;
    }
  }

  // For a protocol that numbers receives (core/ft/protocol.ts)

  get numbered(): number {
    return this.words[P_NUMBERED]!;
  }

  set numbered(receives: number) {
    this.words[P_NUMBERED] = receives;
  }

  takeRecorded(): number {
    const recorded = this.words[P_RECORDED]!;
    this.words[P_RECORDED] = 0;
    return recorded;
  }

  get met(): number {
    return this.meetings === null ? 0 : this.meetings.completed;
  }

  // Counts

  get sent(): number {
    return this.words[P_SENT]!;
  }

  get received(): number {
    return this.words[P_RECEIVED]!;
  }
}
