/** The memory of a simulated C process: that of its program. Packets lie in the node's arena, as everywhere in the simulator. */
import type { CMemory } from "../../abi/c-program.ts";
import type { Pointer } from "../../core/base/brand.ts";
import { lives } from "../../core/base/saved-classes.ts";
import { HeapMemory } from "../../core/request/heap-memory.ts";
import type { Arena } from "../arena.ts";
import type { ProcessMemory } from "../memory.ts";

export class SimProgramMemory extends HeapMemory implements CMemory, ProcessMemory {
  static readonly unsaved = { arena: null, memory: null };
  readonly arena: Arena;
  readonly memory: WebAssembly.Memory;

  constructor(memory: WebAssembly.Memory, arena: Arena) {
    super(new Uint8Array(memory.buffer), new Int32Array(memory.buffer));
    this.arena = arena;
    this.memory = memory;
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
