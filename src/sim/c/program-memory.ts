/** The memory of a simulated C process: that of its program. Packets lie in the node's arena, as everywhere in the simulator. */
import type { CMemory } from "../../abi/c-program.ts";
import { assert } from "../../core/base/assert.ts";
import type { Pointer } from "../../core/base/brand.ts";
import { lives } from "../../core/base/saved-classes.ts";
import { ProgramHeap, type Range } from "../../core/request/program-heap.ts";
import type { Arena } from "../arena.ts";
import type { ProcessMemory } from "../memory.ts";

export class SimProgramMemory implements CMemory, ProcessMemory {
  static readonly unsaved = { arena: null, memory: null };
  readonly arena: Arena;
  readonly memory: WebAssembly.Memory;
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  private readonly heap: ProgramHeap;

  constructor(memory: WebAssembly.Memory, arena: Arena) {
    this.arena = arena;
    this.memory = memory;
    this.bytes = new Uint8Array(memory.buffer);
    this.words = new Int32Array(memory.buffer);
    this.heap = new ProgramHeap(this.words);
  }

  attach(marks: number): void {
    this.heap.attach(marks);
  }

  ranges(): Range[] {
    return this.heap.ranges();
  }

  allocate(bytes: number): Pointer {
    return this.heap.allocate(bytes);
  }

  free(pointer: Pointer): void {
    this.heap.free(pointer);
  }

  lend(_view: Uint8Array): Pointer {
    assert(false, "buffers of a C program are addresses of its memory");
  }

  giveBack(_pointer: Pointer): void {}

  view(pointer: Pointer, bytes: number): Uint8Array {
    return this.bytes.subarray(pointer, pointer + bytes);
  }

  toPayload(payload: number, from: Pointer, offset: number, bytes: number): void {
    this.arena.bytes.set(this.bytes.subarray(from + offset, from + offset + bytes), payload);
  }

  fromPayload(to: Pointer, offset: number, payload: number, bytes: number): void {
    this.bytes.set(this.arena.bytes.subarray(payload, payload + bytes), to + offset);
  }

  copy(to: Pointer, toOffset: number, from: Pointer, fromOffset: number, bytes: number): void {
    this.bytes.copyWithin(to + toOffset, from + fromOffset, from + fromOffset + bytes);
  }
}

lives({ SimProgramMemory });
