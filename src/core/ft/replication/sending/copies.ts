/**
 * The memory for copies of small messages, which programs need not wait for. It is bounded; when it is full, a small send is complete
 * when all acknowledgements are in, as a large one is. Under a leader it has no bound (leading/leader-sends.ts).
 */
import type { Pointer } from "../../../base/brand.ts";
import { MpiError } from "../../../base/mpi-error.ts";
import { lives } from "../../../base/saved-classes.ts";
import type { Memory } from "../../../request/memory.ts";
import type { KeptSend } from "./kept-send.ts";

/** What an empty message counts. */
const messageBytes = 64;

export class Copies {
  private readonly memory: Memory;
  private readonly bytesMax: number;
  bytes = 0;

  constructor(memory: Memory, bytesMax: number) {
    this.memory = memory;
    this.bytesMax = bytesMax;
  }

  /** The message is in a copy now; false: there is no room. */
  take(message: KeptSend): boolean {
    const { bytes } = message;
    return this.bytes + bytes + messageBytes <= this.bytesMax && this.copy(message, bytes);
  }

  /** The same whether there is room or not; the process ends when there is no memory at all. */
  takeAnyway(message: KeptSend): void {
    if (this.copy(message, message.bytes)) return;
    const kept = `${this.bytes} bytes of messages that not all replicas of their receivers have taken are kept`;
    throw new Error(`Cannot keep a copy of a message: there is no memory, and ${kept}; give ranks more with --memory`);
  }

  private copy(message: KeptSend, bytes: number): boolean {
    if (bytes !== 0) {
      const copy = this.allocate(bytes);
      if (copy === null) return false;
      this.memory.copy(copy, 0, message.pointer, 0, bytes);
      message.pointer = copy;
    }
    this.bytes += bytes + messageBytes;
    message.isCopy = true;
    return true;
  }

  /** Others use the memory too. */
  private allocate(bytes: number): Pointer | null {
    try {
      return this.memory.allocate(bytes);
    } catch (error) {
      if (error instanceof MpiError) return null;
      throw error;
    }
  }

  give(message: KeptSend): void {
    if (!message.isCopy) return;
    message.isCopy = false;
    if (message.bytes !== 0) this.memory.free(message.pointer);
    this.bytes -= message.bytes + messageBytes;
  }
}

lives({ Copies });
