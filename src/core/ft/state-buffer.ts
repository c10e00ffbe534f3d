/** Saved state in a list: what `save` wrote, for `restore` to read and for comparing. */
import { assert } from "../base/assert.ts";
import type { StateReader, StateWriter } from "./protocol.ts";

export class StateBuffer implements StateWriter, StateReader {
  readonly entries: (number | Uint8Array)[] = [];
  #next = 0;

  int(value: number): void;
  int(): number;
  int(value?: number): number {
    if (value === undefined) return this.#take("number");
    assert(Number.isInteger(value), `state holds integers, and ${value} is none`);
    return this.entries.push(value);
  }

  bytes(value: Uint8Array): void;
  bytes(): Uint8Array;
  bytes(value?: Uint8Array): Uint8Array {
    if (value === undefined) return this.#take("object");
    const copy = value.slice();
    this.entries.push(copy);
    return copy;
  }

  /** True when everything that was written has been read. */
  get isEmpty(): boolean {
    return this.#next === this.entries.length;
  }

  #take<T extends number | Uint8Array>(type: "number" | "object"): T {
    const entry = this.entries[this.#next++];
    assert(typeof entry === type, "state is read in another order than it was written");
    return entry as T;
  }
}
