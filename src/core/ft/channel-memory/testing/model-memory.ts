/** The memory of a process that sends little, for tests: nothing is ever given back, and nothing can be lent, as in programs in C. */
import type { Pointer } from "../../../base/brand.ts";
import type { Memory } from "../../../request/memory.ts";

export class ModelMemory implements Memory {
  readonly bytes = new Uint8Array(1 << 12);
  #end = 0;

  allocate(bytes: number): Pointer {
    const pointer = this.#end;
    this.#end += (bytes + 15) & ~15;
    return pointer as Pointer;
  }
  free(): void {}
  lend(): Pointer {
    throw new Error("there is no memory but the program's own");
  }
  giveBack(): void {}
  view(pointer: Pointer, bytes: number): Uint8Array {
    return this.bytes.subarray(pointer, pointer + bytes);
  }
  toPayload(): void {}
  fromPayload(): void {}
  copy(to: Pointer, toOffset: number, from: Pointer, fromOffset: number, bytes: number): void {
    this.bytes.set(this.view(from, fromOffset + bytes).subarray(fromOffset), to + toOffset);
  }
}
