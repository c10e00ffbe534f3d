/** The memory of a process that sends little, for tests: nothing is ever given back. */
import type { Pointer } from "../../../base/brand.ts";
import type { Memory } from "../../../request/memory.ts";

export class ModelMemory implements Memory {
  readonly bytes = new Uint8Array(1 << 12);
  readonly #lent = new Map<number, Uint8Array>();
  #end = 0;
  #lends = 0;

  allocate(bytes: number): Pointer {
    const pointer = this.#end;
    this.#end += (bytes + 15) & ~15;
    return pointer as Pointer;
  }
  free(): void {}
  lend(view: Uint8Array): Pointer {
    this.#lent.set(--this.#lends, view);
    return this.#lends as Pointer;
  }
  giveBack(pointer: Pointer): void {
    this.#lent.delete(pointer);
  }
  view(pointer: Pointer, bytes: number): Uint8Array {
    return pointer < 0 ? this.#lent.get(pointer)!.subarray(0, bytes) : this.bytes.subarray(pointer, pointer + bytes);
  }
  toPayload(): void {}
  fromPayload(): void {}
  copy(to: Pointer, toOffset: number, from: Pointer, fromOffset: number, bytes: number): void {
    this.bytes.set(this.view(from, fromOffset + bytes).subarray(fromOffset), to + toOffset);
  }
}
