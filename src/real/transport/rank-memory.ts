/**
 * `Memory` of a process in a node: its own blocks of the node's heap (`SpanHeap`), and ordinary views lent by the program.
 *
 * Copies inside the node's memory are word loops up to 32 bytes where both ends are aligned (8 ns against 24 of a call),
 * copy.wat beyond. Copies from and to lent views: view-copy.ts.
 */
import { assert } from "../../core/base/assert.ts";
import type { Pointer } from "../../core/base/brand.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { viewsOf } from "../../core/comm/datatype/views.ts";
import type { Memory } from "../../core/request/memory.ts";
import { SpanHeap } from "../../core/request/span-heap.ts";
import { ViewCopy } from "../machine/view-copy.ts";
import { copyInside } from "./memory-copies.ts";
import { foldIn } from "./memory-fold.ts";
import { type MessageHasher, messageHasher } from "./message-hasher.ts";
import type { NodeMemory } from "./node-memory.ts";
import type { ProcessBuffers } from "./process-buffers.ts";

const wordLoopBytesMax = 32;
const nothing = new Uint8Array(0);

export class RankMemory implements Memory, ProcessBuffers {
  readonly areInNode = true;
  readonly bytes: Uint8Array;
  readonly #words: Int32Array;
  readonly #copy: (to: number, from: number, bytes: number) => void;
  readonly #heap: SpanHeap;
  readonly #viewCopy: ViewCopy;
  /** Views lent: pointer −1 − i stands for view i. */
  readonly #views: Uint8Array[] = [];
  readonly #viewsFree: number[] = [];

  readonly #memory: WebAssembly.Memory;
  /** Null: nobody has asked yet. */
  #hasher: MessageHasher | null = null;

  constructor(node: NodeMemory) {
    this.#memory = node.memory;
    this.bytes = node.bytes;
    this.#words = node.words;
    this.#copy = copyInside(node.memory);
    viewsOf(this.bytes.buffer).fold ??= foldIn(node.memory);
    this.#heap = new SpanHeap(node.layout.memoryBytes, node.calls.claim);
    this.#viewCopy = new ViewCopy(node.bytes);
  }

  hash(pointer: Pointer, bytes: number): number {
    this.#hasher ??= messageHasher(this.#memory);
    return this.#hasher(pointer, bytes);
  }

  allocate(bytes: number): Pointer {
    const pointer = bytes >= 0 && bytes < 2 ** 31 ? this.#heap.allocate(bytes) : 0;
    if (pointer === 0) {
      const megabytes = this.bytes.length >> 20;
      throw new MpiError(
        ErrorClass.NO_MEM,
        `Cannot allocate ${bytes} bytes: the shared memory of this node (${megabytes} MiB) is used up`,
      );
    }
    return pointer as Pointer;
  }

  free(pointer: Pointer): void {
    this.#heap.free(pointer);
  }

  lend(view: Uint8Array): Pointer {
    const free = this.#viewsFree;
    if (free.length === 0) return -this.#views.push(view) as Pointer;
    const index = free.pop()!;
    this.#views[index] = view;
    return (-1 - index) as Pointer;
  }

  giveBack(pointer: Pointer): void {
    if (pointer >= 0) return;
    this.#views[-1 - pointer] = nothing;
    this.#viewsFree.push(-1 - pointer);
  }

  view(pointer: Pointer, bytes: number): Uint8Array {
    if (pointer >= 0) {
      assert(bytes >= 0 && pointer + bytes <= this.bytes.length, "bytes outside the node's memory");
      return this.bytes.subarray(pointer, pointer + bytes);
    }
    const view = this.#views[-1 - pointer]!;
    assert(bytes <= view.length, "a lent view is shorter than the bytes asked of it");
    return view.length === bytes ? view : view.subarray(0, bytes);
  }

  toPayload(payload: number, from: Pointer, offset: number, bytes: number): void {
    if (from >= 0) this.#copyInside(payload, from + offset, bytes);
    else this.#viewCopy.toShared(payload, this.#views[-1 - from]!, offset, bytes);
  }

  fromPayload(to: Pointer, offset: number, payload: number, bytes: number): void {
    if (to >= 0) this.#copyInside(to + offset, payload, bytes);
    else this.#viewCopy.fromShared(this.#views[-1 - to]!, offset, payload, bytes);
  }

  copy(to: Pointer, toOffset: number, from: Pointer, fromOffset: number, bytes: number): void {
    if (from >= 0) this.fromPayload(to, toOffset, from + fromOffset, bytes);
    else if (to >= 0) this.toPayload(to + toOffset, from, fromOffset, bytes);
    else {
      const source = this.#views[-1 - from]!.subarray(fromOffset, fromOffset + bytes);
      this.#views[-1 - to]!.set(source, toOffset);
    }
  }

  // `ProcessBuffers`: every process of a TypeScript job has its buffers in the node's memory.

  fetchFrom(_process: number, to: Pointer, toOffset: number, peerPointer: number, bytes: number): void {
    this.fromPayload(to, toOffset, peerPointer, bytes);
  }

  putTo(_process: number, peerPointer: number, from: Pointer, bytes: number): void {
    this.toPayload(peerPointer, from, 0, bytes);
  }

  #copyInside(to: number, from: number, bytes: number): void {
    if (bytes > wordLoopBytesMax || ((to | from | bytes) & 3) !== 0) {
      this.#copy(to, from, bytes);
      return;
    }
    const words = this.#words;
    const first = to >> 2;
    const distance = (from >> 2) - first;
    const end = first + (bytes >> 2);
    for (let word = first; word < end; word++) words[word] = words[word + distance]!;
  }
}
