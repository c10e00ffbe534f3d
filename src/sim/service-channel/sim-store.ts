/**
 * The store of a service in a simulated world: outlives its process. A process that crashes while it writes leaves a part of the bytes.
 * The store can also be damaged, or be gone.
 */
import type { ServiceStore } from "../../core/service-channel/service-store.ts";
import type { Random } from "../random.ts";

export class SimStore implements ServiceStore {
  readonly #random: Random;
  #bytes: Uint8Array[] = [];
  /** The process crashes in the middle of the next write: this is called then. */
  #tear: (() => void) | null = null;
  /** How often it was replaced. */
  replaced = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  append(words: Int32Array): void {
    const bytes = bytesOf(words);
    const tear = this.#tear;
    this.#tear = null;
    this.#bytes.push(tear === null ? bytes : bytes.slice(0, this.#random.below(bytes.length)));
    tear?.();
  }

  replace(parts: Iterable<Int32Array>): void {
    const all = Array.from(parts, bytesOf);
    const tear = this.#tear;
    this.#tear = null;
    // All or nothing: what was written is under another name until it is whole.
    if (tear === null) this.#bytes = all;
    this.replaced++;
    tear?.();
  }

  read(): Uint8Array {
    const all = new Uint8Array(this.#bytes.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of this.#bytes) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  /** The process crashes in the middle of its next write. Returns a function that says, and takes back, that it has not happened yet. */
  tearNext(torn: () => void): () => boolean {
    this.#tear = torn;
    return () => {
      const isLeft = this.#tear === torn;
      if (isLeft) this.#tear = null;
      return isLeft;
    };
  }

  /** One bit is wrong, or there is nothing. */
  damage(): void {
    const bytes = this.read();
    if (bytes.length > 0) bytes[this.#random.below(bytes.length)]! ^= 1 << this.#random.below(8);
    this.#bytes = this.#random.chance(0.5) ? [bytes] : [];
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Int32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength).slice();
