/**
 * The memory of the payload log, bounded: above `bytesMax` the oldest payloads go to a store outside the process's memory, until
 * half of it is free again, and the sets that keep the log from being trimmed are named, so that somebody may ask them for a
 * checkpoint. What is outside comes back when it has to be sent again. Nobody ever waits for room.
 */
import type { Pointer } from "../../base/brand.ts";
import { MpiError } from "../../base/mpi-error.ts";
import { lives } from "../../base/saved-classes.ts";
import type { Memory } from "../../request/memory.ts";
import type { Kept } from "./kept.ts";

/**
 * Where payloads go that have no room in memory. A handle is plain data, and stays good in later lives of the process once `flush`
 * has returned; `drop` may come a second time, from a life that knows an older image.
 */
export interface Spill {
  put(bytes: Uint8Array): string;
  get(handle: string, into: Uint8Array): void;
  drop(handle: string): void;
  flush(): void;
}

export interface PayloadMemoryOptions {
  readonly bytesMax: number;
  readonly spill: Spill;
  /** Memory was short: these sets, the one that it is kept for most first, hold it. */
  full(sets: readonly number[]): void;
}

/** What the log looks like when memory is short. */
export interface PayloadLog {
  /** In the order of posting, by receiver. */
  readonly channels: readonly (readonly Kept[] | null)[];
  readonly setOf: Int32Array;
  /** Its bytes may be read by others now. */
  isInUse(message: Kept): boolean;
}

export class PayloadMemory {
  static readonly unsaved = { options: null };
  private readonly options: PayloadMemoryOptions | null;
  private readonly memory: Memory;
  /** Of the log, in memory. */
  private bytes = 0;

  private readonly log: () => PayloadLog;

  /** Without options it has no bound. */
  constructor(memory: Memory, options: PayloadMemoryOptions | null, log: () => PayloadLog) {
    this.memory = memory;
    this.options = options;
    this.log = log;
  }

  get bytesInMemory(): number {
    return this.bytes;
  }

  /** A copy of what the program sends. */
  copy(from: Pointer, bytes: number): Pointer {
    if (bytes === 0) return 0 as Pointer;
    const pointer = this.allocate(bytes);
    this.memory.copy(pointer, 0, from, 0, bytes);
    return pointer;
  }

  /** It will be read: back into memory with it. */
  fetch(message: Kept): void {
    const { spilled, bytes } = message;
    if (spilled === null) return;
    const { spill } = this.options!;
    message.pointer = this.allocate(bytes);
    spill.get(spilled, this.memory.view(message.pointer, bytes));
    // It stays outside as well: an image may say that it is there.
    message.spilled = null;
  }

  /** It is not kept any more. */
  forget(message: Kept): void {
    if (message.spilled !== null) this.options?.spill.drop(message.spilled);
    else if (message.bytes !== 0) this.free(message);
  }

  /** An image is about to be taken that names what is outside. */
  flush(): void {
    this.options?.spill.flush();
  }

  private allocate(bytes: number): Pointer {
    const { options } = this;
    if (options !== null && this.bytes + bytes > options.bytesMax) this.relieve(options, options.bytesMax / 2);
    const pointer = this.tryToAllocate(bytes);
    this.bytes += bytes;
    return pointer;
  }

  /** Others use the memory too: where there is none, all of the log makes room. */
  private tryToAllocate(bytes: number): Pointer {
    const { options } = this;
    try {
      return this.memory.allocate(bytes);
    } catch (error) {
      if (options === null || !(error instanceof MpiError)) throw error;
      this.relieve(options, 0);
      return this.memory.allocate(bytes);
    }
  }

  private free(message: Kept): void {
    this.memory.free(message.pointer);
    this.bytes -= message.bytes;
  }

  /** Oldest first, until no more than that is left. */
  private relieve({ spill, full }: PayloadMemoryOptions, bytesLeft: number): void {
    const log = this.log();
    const inMemory = log.channels.flatMap(
      (kept) => kept?.filter((it) => it.bytes !== 0 && it.spilled === null && !log.isInUse(it)) ?? [],
    );
    inMemory.sort((a, b) => (a.ticket - b.ticket) | 0);
    let goneBytes = 0;
    for (const message of inMemory) {
      if (this.bytes <= bytesLeft) break;
      message.spilled = spill.put(this.memory.view(message.pointer, message.bytes));
      this.free(message);
      goneBytes += message.bytes;
    }
    if (goneBytes > 0) full(holders(log));
  }
}

/** The sets for which at least half of the log is kept. */
function holders({ channels, setOf }: PayloadLog): number[] {
  const bytesOf = new Map<number, number>();
  let total = 0;
  for (const [peer, kept] of channels.entries()) {
    const bytes = kept?.reduce((sum, message) => sum + message.bytes, 0) ?? 0;
    bytesOf.set(setOf[peer]!, (bytesOf.get(setOf[peer]!) ?? 0) + bytes);
    total += bytes;
  }
  const sets = [...bytesOf].sort((a, b) => b[1] - a[1]);
  let covered = 0;
  const most = sets.findIndex(([, bytes]) => {
    covered += bytes;
    return 2 * covered >= total;
  });
  return sets.slice(0, most + 1).map(([set]) => set);
}

lives({ PayloadMemory });
