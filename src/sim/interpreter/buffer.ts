/** A buffer of a simulated program: bytes of the node's memory, or an ordinary view that is lent for each request. */
import type { Pointer } from "../../core/base/brand.ts";
import { saves } from "../../core/base/saved-classes.ts";
import type { SimMemory } from "../memory.ts";

export class Buffer {
  private readonly memory: SimMemory;
  private readonly bytes: number;
  private readonly place: Pointer | Uint8Array;

  constructor(memory: SimMemory, bytes: number, lent: boolean) {
    this.memory = memory;
    this.bytes = bytes;
    this.place = lent ? new Uint8Array(bytes) : memory.allocate(bytes);
  }

  /** Lends the view for one request, with which the engine ends the loan; without a request the caller does, by `giveBack`. */
  pointer(): Pointer {
    return typeof this.place === "number" ? this.place : this.memory.lend(this.place);
  }

  giveBack(pointer: Pointer): void {
    if (pointer < 0) this.memory.giveBack(pointer);
  }

  get view(): Uint8Array {
    return typeof this.place === "number" ? this.memory.view(this.place, this.bytes) : this.place;
  }

  /** The buffer is free; filled with rubbish, so that any further use is noticed. */
  free(): void {
    if (typeof this.place === "number") this.memory.free(this.place);
    else this.place.fill(0xdb);
  }
}

saves({ Buffer });
