/**
 * Where everything is in a node's memory: one shared WebAssembly.Memory for rings, boards and the heap, reserved in full
 * at the start (untouched pages cost nothing), so an address is an int32, a pointer never moves and every copy is one
 * `memory.copy`. All offsets are bytes.
 *
 *   0          nothing: 0 means "no pointer"
 *   breakAt    the heap's break pointer
 *   notices    news from the node's main thread to its processes: a counter, then a log
 *   lines      one block for each process of the node (and for each feeder), see `Line`
 *   rings      one inbound ring for each process, see `Ring`
 *   boards     see `BoardPart`
 *   longs      long parts of the first boards, see `longPartsOf`
 *   eager      a payload buffer for each slot of each ring
 *   heap       to the end, given out in chunks by moving the break pointer
 *
 * Everything two threads write is on a cache-line pair (128 bytes) of its own. node.wat knows the offsets in `Line` and
 * `Ring` as constants; the rest it is told when it is instantiated.
 */
import { assert } from "../../core/base/assert.ts";

/** Two cache lines: x86 fetches them in pairs. */
export const lineBytes = 128;
const pageBytes = 65536;

/** A process's block: its bell, its status and the slot it is about to claim. Offsets are constants in node.wat. */
export const Line = {
  /** `Bell`. Written by its owner and by the thread that wakes it. */
  BELL: 0,
  /** `RankStatus` in the low 8 bits, incarnation above. Written by the node's main thread only. */
  STATUS: 128,
  /** Ring (high half) and position (low half) this process is about to reserve or has reserved last. Its owner's only. */
  INTENT: 256,
  /** How many notices the owner has read. */
  NOTICES_SEEN: 384,
  /** `Stop`: the node's order to a process of a C program. Written by the node's main thread. */
  STOP: 388,
  /** How many lives this process has had in this memory. Written by the node's main thread. */
  LIVES: 392,
  /** The checkpoints that count when another is asked for, see core/service/set-checkpoints.ts. Written by the node's main thread, before STOP. */
  KEPT_OLDEST: 396,
  KEPT_NEWEST: 400,
  /** Has the process, which shares its thread, its turn? See real/messages/whereabouts.ts. Written by its owner. */
  TURN: 404,
  BYTES: 512,
} as const;

export const Bell = {
  AWAKE: 0,
  PARKED: 1,
  /** Sleeps in `poll`, over its sockets: the thread that rings calls the transport's `wakeElsewhere`. */
  PARKED_ELSEWHERE: 2,
  // Any other value: the address of the bell on which the process sleeps, that of another process in its thread.
} as const;

/** The low bits of the word; above them the number of the checkpoint, 0: of a job that is being frozen. */
export const Stop = {
  NO: 0,
  /** Stand still inside the MPI call it is in, or its next one, and write an image when all do. */
  STOP: 1,
  /** All images are there: end. */
  END: 2,
} as const;
const stopBits = 2;
export const stopFor = (checkpoint: number): number => Stop.STOP | (checkpoint << stopBits);
export const stopKind = (wanted: number): number => wanted & ((1 << stopBits) - 1);
export const checkpointOf = (wanted: number): number => wanted >> stopBits;

export const RankStatus = { ABSENT: 0, ALIVE: 1, FINISHED: 2, DEAD: 3 } as const;
export type RankStatus = (typeof RankStatus)[keyof typeof RankStatus];

/** A ring's control lines; its slots follow. Offsets are constants in node.wat. */
export const Ring = {
  TAIL: 0,
  /** Published by the consumer every slots / 4 packets. */
  HEAD: 128,
  /** The position from which a new life of the consumer listens: packets before it were for the old one. Written before it starts. */
  DEAF_UNTIL: 132,
  /** One bit for each process that wants to be woken when there is room. */
  WAITERS: 256,
  SLOTS: 384,
} as const;

/** A slot is a packet's header (32 bytes) and up to 96 bytes of payload. */
export const slotBytes = 128;
export const inlineBytesMax = slotBytes - 32;

/** The waiters of a ring are one line of bits. */
export const producersMax = lineBytes * 8;

/** A board's control lines; parts follow, see shared-board.ts. */
export const BoardPart = {
  /** Bit set (64 bits) of members that have not left; 0: the board is free. */
  PRESENT: 0,
  /** How many have arrived, for each of the two banks. */
  ARRIVED: 128,
  /** Rounds opened. */
  GATE: 384,
  /** Index of each member's process + 1, one word each. */
  MEMBERS: 512,
  DATA: 768,
} as const;
/** A part's length stands before its bytes, on the same line. They are aligned as any element wants it. */
export const partHeadBytes = 16;
export const partStride = (boardBytes: number): number => boardBytes + lineBytes;
/** The long parts of a board have room for so many members in full; more members share it. */
const longMembersMax = 8;
/** All long parts together, and as a share of the memory: boards beyond that have none. Pages that nobody touches cost nothing. */
const longsBytesMax = 72 << 20;
const longsShare = 1 / 4;
/** Bits of PRESENT, words of MEMBERS. */
const boardMembersMax = 64;

export const noticeWords = 4;

interface LayoutOptions {
  /** Processes of the node. */
  readonly processes: number;
  /** Threads that send but have no ring (a reader of sockets): each has a line after those of the processes. */
  readonly feeders?: number;
  readonly memoryBytes?: number;
  /** Slots of a ring, a power of two. */
  readonly slots?: number;
  /** Payload buffer of a slot: the largest eager message. */
  readonly eagerBytes?: number;
  readonly boards?: number;
  /** Bytes of a member's part of a board, and of its long one. */
  readonly boardBytes?: number;
  readonly longBytes?: number;
  /** Boards that have long parts, at most: as many as there is room for unless given. */
  readonly longBoards?: number;
  /** From so many bytes on a member's part may be lent. */
  readonly lentBytesMin?: number;
  readonly notices?: number;
}

/** Plain numbers: crosses to the workers as it is. */
export interface MemoryLayout {
  readonly processes: number;
  readonly producers: number;
  readonly memoryBytes: number;
  readonly slots: number;
  readonly eagerBytes: number;
  readonly boardCount: number;
  readonly boardBytes: number;
  readonly boardMembers: number;
  readonly boardStride: number;
  /** Of a long part at most; the first `longBoards` boards have them. */
  readonly longBytes: number;
  readonly longBoards: number;
  readonly longStride: number;
  /** From so many bytes on a part may stay where the program has it, see core/coll/engine/board.ts. */
  readonly lentBytesMin: number;
  readonly noticeCount: number;
  readonly ringStride: number;
  readonly breakAt: number;
  readonly noticesAt: number;
  readonly lines: number;
  readonly rings: number;
  readonly boards: number;
  readonly longs: number;
  readonly eager: number;
  readonly heap: number;
}

/** The largest memory below 2 GiB. */
export const memoryMbMax = 2047;

/**
 * MB of a node's memory where the program is in C: buffers of such a program are in its ranks' own memories, so there are rings, boards
 * and what the runtime allocates, for each process: half a megabyte or two, and chunks of a megabyte. Pages that are not touched cost nothing.
 */
export const cNodeMemoryMb = (processes: number): number => Math.min(384 + 2 * processes, memoryMbMax);

/** So many ranks of other nodes may come to one, beside its own. A place that nobody has taken costs pages that nobody has touched. */
const guestsMax = 16;

/** Where replicas come back, and go on elsewhere: places for such in a node. */
export const guestsOf = ({
  replicas,
  recovery,
  placement,
}: {
  readonly replicas: readonly number[] | null;
  readonly recovery: object | null;
  readonly placement: readonly number[];
}): number => (replicas === null || recovery === null ? 0 : Math.min(guestsMax, placement.length));

/** MB that a process which may be spawned adds to a node's memory where the program is in TypeScript: its buffers, and chunks of the heap. */
export const spareMb = 4;

const alignUp = (bytes: number, to: number) => Math.ceil(bytes / to) * to;
const isPowerOfTwo = (n: number) => n > 0 && (n & (n - 1)) === 0;

/**
 * Up to 32 KiB a message is sooner there in two copies than by an envelope, an answer and a copy by both, even when all of that is optimised (16 KiB between two ranks
 * in C: 2.8 instead of 5.0 µs on Node 20, 2.0 instead of 4.7 on Node 26). Where many ranks share a memory their buffers would take too much of it.
 */
const eagerBytesFor = (buffers: number, memoryBytes: number): number =>
  memoryBytes >= smallMemoryBytes && buffers * eagerBytesMax <= memoryBytes * eagerShare
    ? eagerBytesMax
    : eagerBytesMin;

const eagerBytesMax = 32 * 1024;
const eagerBytesMin = 8 * 1024;
/** Who gives a node less wants it for the program's own buffers. */
const smallMemoryBytes = 256 << 20;
/** Buffers that no message has used yet are pages that nobody has touched; a job that may spawn has those of all that it can have. */
const eagerShare = 1 / 2;

export function layoutOf(options: LayoutOptions): MemoryLayout {
  const { processes, feeders = 0, memoryBytes = 1 << 30, slots = 64 } = options;
  const { eagerBytes = eagerBytesFor(processes * slots, memoryBytes) } = options;
  const { boards: boardCount = 64, boardBytes = 1024, longBytes = 512 * 1024, notices: noticeCount = 1024 } = options;
  const { lentBytesMin = 16 * 1024 } = options;
  const producers = processes + feeders;
  assert(processes >= 1 && producers <= producersMax, `a node has 1 to ${producersMax} processes and feeders`);
  assert(
    isPowerOfTwo(slots) && slots >= 4,
    "slots of a ring are a power of two, at least 4 (the head moves by quarters)",
  );
  assert(eagerBytes % lineBytes === 0 && eagerBytes > inlineBytesMax, "an eager buffer is whole lines");
  assert(boardBytes % lineBytes === 0 && longBytes % lineBytes === 0, "a member's part of a board is whole lines");
  assert(isPowerOfTwo(noticeCount), "the log of notices is a power of two");
  assert(memoryBytes % pageBytes === 0 && memoryBytes < 2 ** 31, "the memory is whole pages and below 2 GiB");

  const boardMembers = Math.min(processes, boardMembersMax);
  const boardStride = BoardPart.DATA + 2 * boardMembers * partStride(boardBytes);
  const ringStride = Ring.SLOTS + slots * slotBytes;
  const breakAt = lineBytes;
  const noticesAt = breakAt + lineBytes;
  const lines = alignUp(noticesAt + lineBytes + noticeCount * noticeWords * 4, lineBytes);
  const rings = lines + producers * Line.BYTES;
  const boards = rings + processes * ringStride;
  const longs = alignUp(boards + boardCount * boardStride, 4096);
  const longStride = 2 * Math.min(boardMembers, longMembersMax) * partStride(longBytes);
  const longBoards = Math.min(
    options.longBoards ?? boardCount,
    Math.floor(Math.min(longsBytesMax, memoryBytes * longsShare) / longStride),
  );
  const eager = alignUp(longs + longBoards * longStride, 4096);
  const heap = alignUp(eager + processes * slots * eagerBytes, pageBytes);
  assert(heap <= memoryBytes, "rings and boards leave nothing of the node's memory: give it more, or fewer slots");
  return {
    processes,
    producers,
    memoryBytes,
    slots,
    eagerBytes,
    boardCount,
    boardBytes,
    boardMembers,
    boardStride,
    longBytes,
    longBoards,
    longStride,
    lentBytesMin,
    noticeCount,
    ringStride,
    breakAt,
    noticesAt,
    lines,
    rings,
    boards,
    longs,
    eager,
    heap,
  };
}

export const lineOf = (layout: MemoryLayout, process: number): number => layout.lines + process * Line.BYTES;
export const ringOf = (layout: MemoryLayout, process: number): number => layout.rings + process * layout.ringStride;

export const boardOf = (layout: MemoryLayout, index: number): number => layout.boards + index * layout.boardStride;
/** The long parts of a board: two banks of one for each member, for bytes that its parts have no room for. */
export interface LongParts {
  /** 0: it has none. */
  readonly at: number;
  /** What a member can put on the board. */
  readonly bytes: number;
}
export function longPartsOf(layout: MemoryLayout, index: number, members: number): LongParts {
  if (index >= layout.longBoards) return { at: 0, bytes: layout.boardBytes };
  const share = Math.floor(layout.longStride / (2 * members) / lineBytes - 1) * lineBytes;
  return { at: layout.longs + index * layout.longStride, bytes: Math.min(layout.longBytes, share) };
}
