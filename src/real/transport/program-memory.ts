/**
 * `Memory` of a C process: the linear memory of its program (docs/adr/0005-c-programs.md). The runtime's own blocks (stored messages,
 * scratch memory, the area for an unwound stack) lies at its end, see core/request/program-heap.ts.
 *
 * Packets lie in the node's memory, the buffers of the neighbours in memories of their own: every copy is one between two
 * memories.
 */
import type { Pointer } from "../../core/base/brand.ts";
import { lives } from "../../core/base/saved-classes.ts";
import { viewsOf } from "../../core/comm/datatype/views.ts";
import { HeapMemory } from "../../core/request/heap-memory.ts";
import type { Memory } from "../../core/request/memory.ts";
import { copyInside, MemoryCopies, type SharedViews, sharedViewsOf } from "./memory-copies.ts";
import { foldIn } from "./memory-fold.ts";
import { type MessageHasher, messageHasher } from "./message-hasher.ts";
import type { NodeMemory } from "./node-memory.ts";
import type { ProcessBuffers } from "./process-buffers.ts";

const wordLoopBytesMax = 32;

export class ProgramMemory extends HeapMemory implements Memory, ProcessBuffers {
  static readonly unsaved = {
    process: 0,
    own: null,
    memoryOf: null,
    toNode: null,
    fromNode: null,
    fromPeer: [],
    toPeer: [],
    hasher: null,
  };
  readonly areInNode = false;
  /** Index of this process in the node. */
  readonly process: number;
  private readonly own: SharedViews;
  private readonly toNode: MemoryCopies;
  private readonly fromNode: MemoryCopies;
  /** Memories of all known processes of the node, this one among them. */
  private readonly memoryOf: (process: number) => WebAssembly.Memory;
  private readonly fromPeer: (MemoryCopies | undefined)[] = [];
  private readonly toPeer: (MemoryCopies | undefined)[] = [];
  private readonly copyInside: (to: number, from: number, bytes: number) => void;
  /** Null: nobody has asked yet. */
  private hasher: MessageHasher | null = null;

  constructor(node: NodeMemory, memoryOf: (process: number) => WebAssembly.Memory) {
    const own = sharedViewsOf(memoryOf(node.process));
    super(own.bytes, own.words);
    this.own = own;
    this.process = node.process;
    this.memoryOf = memoryOf;
    this.toNode = new MemoryCopies(own, node);
    this.fromNode = new MemoryCopies(node, own);
    this.copyInside = copyInside(own.memory);
    viewsOf(own.bytes.buffer).fold ??= foldIn(own.memory);
  }

  get memory(): WebAssembly.Memory {
    return this.own.memory;
  }

  toPayload(payload: number, from: Pointer, offset: number, bytes: number): void {
    this.toNode.copy(payload, from + offset, bytes);
  }

  fromPayload(to: Pointer, offset: number, payload: number, bytes: number): void {
    this.fromNode.copy(to + offset, payload, bytes);
  }

  copy(to: Pointer, toOffset: number, from: Pointer, fromOffset: number, bytes: number): void {
    const [target, source] = [to + toOffset, from + fromOffset];
    if (bytes > wordLoopBytesMax || ((target | source | bytes) & 3) !== 0) {
      this.copyInside(target, source, bytes);
      return;
    }
    const { words } = this;
    let word = target >> 2;
    const end = (source + bytes) >> 2;
    for (let i = source >> 2; i < end; i++) words[word++] = words[i]!;
  }

  hash(pointer: Pointer, bytes: number): number {
    this.hasher ??= messageHasher(this.own.memory);
    return this.hasher(pointer, bytes);
  }

  fetchFrom(process: number, to: Pointer, toOffset: number, peerPointer: number, bytes: number): void {
    this.fromPeer[process] ??= new MemoryCopies(sharedViewsOf(this.memoryOf(process)), this.own);
    this.fromPeer[process].copyLarge(to + toOffset, peerPointer, bytes);
  }

  putTo(process: number, peerPointer: number, from: Pointer, bytes: number): void {
    this.toPeer[process] ??= new MemoryCopies(this.own, sharedViewsOf(this.memoryOf(process)));
    this.toPeer[process].copyLarge(peerPointer, from, bytes);
  }
}

lives({ ProgramMemory });
