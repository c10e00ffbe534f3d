/**
 * A node's memory and one thread's calls into it. The main thread makes the memory once; every thread instantiates
 * node.wat on it with the line of its own process.
 */
import { Bell, Line, lineOf, type MemoryLayout, Ring, ringOf, slotBytes } from "./layout.ts";
import moduleBytes from "./node.wat";

/** The functions of node.wat; their comments there are the contract. Addresses are bytes. */
export interface NodeCalls {
  ring(bell: number): number;
  rouse(bell: number): number;
  store(address: number, value: number): void;
  load(address: number): number;
  open(slot: number): void;
  spin(a: number, wantA: number, b: number, wantB: number, looks: number): number;
  reserve(ring: number): number;
  commit(slot: number, bell: number, source: number, payload: number): number;
  publish(ring: number, position: number): number;
  anyWaiter(ring: number): number;
  awaitRoom(ring: number, process: number): void;
  takeWaiters(ring: number, word: number): number;
  settle(line: number): number;
  copyJointly(work: number, generation: number, to: number, from: number, bytes: number, chunk: number): void;
  claimJointly(work: number, generation: number, bytes: number, chunk: number): number;
  doneJointly(work: number, bytes: number): void;
  startJointly(work: number, generation: number): void;
  exchange(address: number, was: number, now: number): number;
  claim(bytes: number): number;
  boardClaim(board: number, members: number): number;
  boardLeave(board: number, member: number): void;
  boardArrive(arrived: number, members: number): number;
  boardWithdraw(arrived: number, members: number): number;
  boardOpen(board: number, arrived: number, round: number, members: number): number;
}

/** A thread's view of the node's memory: words, bytes, and the calls of node.wat. */
export interface NodeMemory {
  readonly memory: WebAssembly.Memory;
  readonly layout: MemoryLayout;
  /** Index of this thread's process in the node; the main thread and others without one have −1. */
  readonly process: number;
  readonly words: Int32Array;
  readonly bytes: Uint8Array;
  readonly calls: NodeCalls;
}

/** A node's memory as every rank of the node is given it. */
export interface SharedNode {
  readonly memory: WebAssembly.Memory;
  readonly layout: MemoryLayout;
  /** The board of the communicator of the rank's world, where all of that world is on this node; −1 otherwise. */
  readonly worldBoard: number;
}

const wasmPageBytes = 65536;

/**
 * A new node's memory, all zero but for the break pointer. Positions of rings start at `firstPosition`: tests begin just
 * below 2³², where they wrap.
 */
export function newNodeMemory(layout: MemoryLayout, firstPosition = 0): WebAssembly.Memory {
  const pages = layout.memoryBytes / wasmPageBytes;
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  const words = new Int32Array(memory.buffer);
  prepare(words, layout, firstPosition);
  return memory;
}

/** Gives fresh (zero) memory its first contents. */
export function prepare(words: Int32Array, layout: MemoryLayout, firstPosition = 0): void {
  words[layout.breakAt >> 2] = layout.heap;
  for (let process = 0; process < layout.producers; process++) words[lineOf(layout, process) >> 2] = Bell.AWAKE;
  if (firstPosition === 0) return;
  for (let process = 0; process < layout.processes; process++) {
    const ring = ringOf(layout, process) >> 2;
    words[ring + (Ring.TAIL >> 2)] = firstPosition;
    words[ring + (Ring.HEAD >> 2)] = firstPosition;
    words[ring + (Ring.DEAF_UNTIL >> 2)] = firstPosition;
    // Every slot has the stamp of the lap before: stamps only grow.
    for (let i = 0; i < layout.slots; i++) {
      const position = (firstPosition + i) | 0;
      const slot = ring + ((Ring.SLOTS + (position & (layout.slots - 1)) * slotBytes) >> 2);
      words[slot] = (position - layout.slots + 1) | 0;
    }
  }
}

/** The turn word (real/messages/whereabouts.ts) of a process. */
export function turnWordOf({ words, layout, process }: Pick<NodeMemory, "words" | "layout" | "process">): {
  readonly words: Int32Array;
  readonly at: number;
} {
  return { words, at: (lineOf(layout, process) + Line.TURN) >> 2 };
}

/** The imports of node.wat, for the process with that index (−1: none, the thread must not send). */
const nodeImportsOf = (layout: MemoryLayout, process: number) => ({
  lines: layout.lines,
  producers: layout.producers,
  slots: layout.slots,
  own: process < 0 ? layout.lines - Line.BYTES : lineOf(layout, process),
  break: layout.breakAt,
  end: layout.memoryBytes,
});

let compiled: WebAssembly.Module | undefined;

let compiledAnew: WebAssembly.Module | undefined;

/** A custom section (0) of 2 bytes: a name of one letter, and no contents. */
const emptySection = [0, 2, 1, 0x62];

/** A section that nobody reads keeps V8 from taking one module for the other. */
export const callsAnew = Uint8Array.of(...moduleBytes, ...emptySection);

/**
 * The same functions once more, from a module that is compiled when this is first called: threads enter the memory before V8's flags for
 * C programs are set (`RankThreads.letRun`), so the code that they have is the baseline compiler's for a while, and is replaced while ranks run.
 */
export function compileCallsAnew(memory: WebAssembly.Memory, layout: MemoryLayout, process: number): NodeCalls {
  compiledAnew ??= new WebAssembly.Module(callsAnew);
  const { exports } = new WebAssembly.Instance(compiledAnew, { node: { memory, ...nodeImportsOf(layout, process) } });
  return exports as unknown as NodeCalls;
}

/** This thread's way into the memory. */
export function enterNodeMemory(memory: WebAssembly.Memory, layout: MemoryLayout, process: number): NodeMemory {
  compiled ??= new WebAssembly.Module(moduleBytes);
  const { exports } = new WebAssembly.Instance(compiled, { node: { memory, ...nodeImportsOf(layout, process) } });
  return {
    memory,
    layout,
    process,
    words: new Int32Array(memory.buffer),
    bytes: new Uint8Array(memory.buffer),
    calls: exports as unknown as NodeCalls,
  };
}
