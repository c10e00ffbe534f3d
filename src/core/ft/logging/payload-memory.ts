/**
 * The memory of the payload log, bounded: above `bytesMax` the oldest payloads go to a store outside the process's memory, until
 * half of it is free again, and the sets that keep the log from being trimmed are named, so that they can be asked for a
 * checkpoint. A payload outside comes back when its receiver wants the bytes. No program ever waits for room.
 *
 * A message whose bytes others may be reading is *lent*, and stays. A quarter of the memory may be offered, to be read some time;
 * another one, or a single message, may be on its way: that ends by itself, however few of the offered messages its receiver takes.
 */
import type { Pointer } from "../../base/brand.ts";
import { MpiError } from "../../base/mpi-error.ts";
import { lives } from "../../base/saved-classes.ts";
import type { Memory } from "../../request/memory.ts";
import { type Kept, Lent } from "./kept.ts";

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

/** The log that the memory is for. */
export interface PayloadLog {
  /** By receiver; the messages for one receiver are in the order of posting. */
  readonly byRank: ReadonlyMap<number, { readonly kept: readonly Kept[] }>;
  readonly setOf: Int32Array;
}

export class PayloadMemory {
  static readonly unsaved = { options: null };
  private readonly options: PayloadMemoryOptions | null;
  private readonly memory: Memory;
  /** Of the log, in memory; and of those, by how they are lent. */
  private bytes = 0;
  private readonly lentBytes = [0, 0, 0];

  private readonly log: PayloadLog;

  /** Without options it has no bound. */
  constructor(memory: Memory, options: PayloadMemoryOptions | null, log: PayloadLog) {
    this.memory = memory;
    this.options = options;
    this.log = log;
  }

  get bytesInMemory(): number {
    return this.bytes;
  }

  /** For a message of the program, which is copied there before the call is over. */
  roomFor(bytes: number): Pointer {
    return bytes === 0 ? (0 as Pointer) : this.allocate(bytes);
  }

  fill({ pointer, bytes }: Kept, from: Pointer): void {
    if (bytes !== 0) this.memory.copy(pointer, 0, from, 0, bytes);
  }

  /** The message will be read: its bytes come back into memory. */
  fetch(message: Kept): void {
    if (message.isInMemory) return;
    message.pointer = this.allocate(message.bytes);
    message.isInMemory = true;
    this.options!.spill.get(message.stored!, this.memory.view(message.pointer, message.bytes));
  }

  mayLend({ bytes }: Kept, lent: Lent): boolean {
    const already = this.lentBytes[lent]!;
    return this.options === null || already === 0 || already + bytes <= this.options.bytesMax / 4;
  }

  lend(message: Kept, lent: Lent): void {
    this.fetch(message);
    this.put(message, lent);
  }

  giveBack(message: Kept): void {
    this.put(message, Lent.NO);
  }

  private put(message: Kept, lent: Lent): void {
    this.lentBytes[message.lent]! -= message.bytes;
    this.lentBytes[lent]! += message.bytes;
    message.lent = lent;
  }

  /** It is not kept any more. */
  forget(message: Kept): void {
    this.giveBack(message);
    if (message.stored !== null) this.options?.spill.drop(message.stored);
    if (message.isInMemory && message.bytes !== 0) this.free(message);
  }

  /** An image is about to be taken that names payloads outside. */
  flush(): void {
    this.options?.spill.flush();
  }

  private allocate(bytes: number): Pointer {
    const { options } = this;
    if (options !== null && this.bytes + bytes > options.bytesMax) this.relieve(options, options.bytesMax / 2);
    const pointer = this.tryToAllocate(bytes);
    this.bytes += bytes;
    // A log that has grown grows on.
    this.memory.expect?.(this.bytes);
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
    message.isInMemory = false;
    this.bytes -= message.bytes;
  }

  /** Oldest first, until no more than that is left. */
  private relieve({ spill, full }: PayloadMemoryOptions, bytesLeft: number): void {
    const { log } = this;
    const mayGo = (message: Kept): boolean => message.bytes !== 0 && message.isInMemory && !message.isLent;
    const inMemory = [...log.byRank.values()].flatMap(({ kept }) => kept.filter(mayGo));
    inMemory.sort((a, b) => (a.ticket - b.ticket) | 0);
    let goneBytes = 0;
    for (const message of inMemory) {
      if (this.bytes <= bytesLeft) break;
      message.stored ??= spill.put(this.memory.view(message.pointer, message.bytes));
      this.free(message);
      goneBytes += message.bytes;
    }
    if (goneBytes > 0) full(holders(log));
  }
}

/** The sets for which at least half of the log is kept. */
function holders({ byRank, setOf }: PayloadLog): number[] {
  const bytesOf = new Map<number, number>();
  let total = 0;
  for (const [peer, { kept }] of byRank) {
    const bytes = kept.reduce((sum, message) => sum + message.bytes, 0);
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
