/** The memory port of a simulated process: a share of its node's arena, with an account that must be empty at the end. */
import { assert } from "../core/base/assert.ts";
import type { Pointer } from "../core/base/brand.ts";
import { lives } from "../core/base/saved-classes.ts";
import type { Memory } from "../core/request/memory.ts";
import type { Arena } from "./arena.ts";

/** The memory of a process, and that of the node, where packets lie. */
export interface ProcessMemory extends Memory {
  readonly arena: Arena;
}

export class SimMemory implements ProcessMemory {
  readonly arena: Arena;
  private readonly lent = new Map<Pointer, Uint8Array>();
  private readonly owner: number;
  private lastLent = 0;
  bytesAllocated = 0;
  bytesAllocatedMax = 0;

  constructor(arena: Arena, owner: number) {
    this.arena = arena;
    this.owner = owner;
  }

  get bytes(): Uint8Array {
    return this.arena.bytes;
  }

  /** Views that were lent and not yet given back. */
  get viewsLent(): number {
    return this.lent.size;
  }

  allocate(bytes: number): Pointer {
    const pointer = this.arena.allocate(bytes, this.owner) as Pointer;
    this.bytesAllocated += bytes;
    this.bytesAllocatedMax = Math.max(this.bytesAllocatedMax, this.bytesAllocated);
    return pointer;
  }

  free(pointer: Pointer): void {
    this.bytesAllocated -= this.arena.free(pointer, this.owner);
  }

  lend(view: Uint8Array): Pointer {
    const pointer = --this.lastLent as Pointer;
    this.lent.set(pointer, view);
    return pointer;
  }

  giveBack(pointer: Pointer): void {
    assert(this.lent.delete(pointer), `view ${pointer} is given back, and it is not lent`);
  }

  view(pointer: Pointer, bytes: number): Uint8Array {
    if (pointer >= 0) return this.bytes.subarray(pointer, pointer + bytes);
    const view = this.lent.get(pointer);
    assert(view !== undefined, `view ${pointer} is used, and it is not lent`);
    return view.subarray(0, bytes);
  }

  toPayload(payload: number, from: Pointer, offset: number, bytes: number): void {
    this.bytes.set(this.part(from, offset, bytes), payload);
  }

  fromPayload(to: Pointer, offset: number, payload: number, bytes: number): void {
    this.part(to, offset, bytes).set(this.bytes.subarray(payload, payload + bytes));
  }

  copy(to: Pointer, toOffset: number, from: Pointer, fromOffset: number, bytes: number): void {
    this.part(to, toOffset, bytes).set(this.part(from, fromOffset, bytes));
  }

  private part(pointer: Pointer, offset: number, bytes: number): Uint8Array {
    if (pointer >= 0) return this.bytes.subarray(pointer + offset, pointer + offset + bytes);
    const view = this.lent.get(pointer);
    assert(view !== undefined, `view ${pointer} is used, and it is not lent`);
    assert(offset + bytes <= view.length, `bytes ${offset} to ${offset + bytes} of a lent view of ${view.length}`);
    return view.subarray(offset, offset + bytes);
  }
}

lives({ SimMemory });
