/** A store in memory, for tests. */
import type { ServiceStore } from "../../../service-channel/service-store.ts";

export class MemoryStore implements ServiceStore {
  #parts: Uint8Array[] = [];
  appends = 0;
  replacements = 0;

  append(words: Int32Array): void {
    this.appends++;
    this.#parts.push(bytesOf(words));
  }

  replace(parts: Iterable<Int32Array>): void {
    this.replacements++;
    this.#parts = Array.from(parts, bytesOf);
  }

  get bytes(): Uint8Array {
    const all = new Uint8Array(this.#parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Int32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength).slice();
