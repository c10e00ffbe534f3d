/** `Memory` for the tests of this folder: a bump allocator on a small shared WebAssembly memory, and lent views. */
import type { Pointer } from "../../../core/base/brand.ts";
import type { Memory } from "../../../core/request/memory.ts";

const pageBytes = 65536;

export class PlainMemory implements Memory {
  readonly shared: WebAssembly.Memory;
  readonly bytes: Uint8Array;
  readonly #views: Uint8Array[] = [];
  #next = 1024;

  constructor(megabytes = 64) {
    const pages = (megabytes << 20) / pageBytes;
    this.shared = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    this.bytes = new Uint8Array(this.shared.buffer);
  }

  allocate(bytes: number): Pointer {
    const at = this.#next;
    this.#next = (at + bytes + 63) & ~63;
    return at as Pointer;
  }
  free(): void {}
  lend(view: Uint8Array): Pointer {
    return -this.#views.push(view) as Pointer;
  }
  giveBack(): void {}
  view(pointer: Pointer, bytes: number): Uint8Array {
    const from = pointer >= 0 ? this.bytes.subarray(pointer) : this.#views[-1 - pointer]!;
    return from.subarray(0, bytes);
  }
  toPayload(payload: number, from: Pointer, offset: number, bytes: number): void {
    this.bytes.set(this.view(from, offset + bytes).subarray(offset), payload);
  }
  fromPayload(to: Pointer, offset: number, payload: number, bytes: number): void {
    this.view(to, offset + bytes).set(this.bytes.subarray(payload, payload + bytes), offset);
  }
  copy(to: Pointer, toOffset: number, from: Pointer, fromOffset: number, bytes: number): void {
    this.view(to, toOffset + bytes).set(this.view(from, fromOffset + bytes).subarray(fromOffset), toOffset);
  }
}
