/** Where payloads of a simulated rank's log go that have no room in memory: it outlives the rank. */
import { assert } from "../../core/base/assert.ts";
import type { Spill } from "../../core/ft/logging/payload-memory.ts";

export class Shelf implements Spill {
  readonly #kept: Map<string, Uint8Array>;
  /** What was put since the last flush is lost with its process. */
  #unflushed: string[] = [];
  readonly #count: { puts: number };
  /** How often a payload came back. */
  fetched = 0;

  /** `before`: that of a process that lives on and puts things on the same shelf. */
  constructor(before?: Shelf) {
    this.#kept = before === undefined ? new Map() : before.#kept;
    this.#count = before === undefined ? { puts: 0 } : before.#count;
    this.fetched = before?.fetched ?? 0;
  }

  get puts(): number {
    return this.#count.puts;
  }

  put(bytes: Uint8Array): string {
    const handle = String(this.#count.puts++);
    this.#kept.set(handle, bytes.slice());
    this.#unflushed.push(handle);
    return handle;
  }

  get(handle: string, into: Uint8Array): void {
    const bytes = this.#kept.get(handle);
    assert(bytes !== undefined, `payload ${handle} is not on the shelf`);
    into.set(bytes);
    this.fetched++;
  }

  drop(handle: string): void {
    this.#kept.delete(handle);
  }

  flush(): void {
    this.#unflushed = [];
  }

  /** The process has died. */
  lose(): void {
    for (const handle of this.#unflushed) this.#kept.delete(handle);
    this.#unflushed = [];
  }
}
