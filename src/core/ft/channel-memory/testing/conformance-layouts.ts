/** Channel memories in the layouts that the conformance suite runs: how many there are, and how large a piece of a message is. */
import type { NewProtocol } from "../../protocol.ts";
import type { ConformanceLayout, ConformanceProtocols } from "../../testing/protocol-conformance.ts";
import { ChannelMemoryProtocol } from "../channel-memory-protocol.ts";
import { type MemoryLimits, memoryLimitsDefault } from "../limits.ts";
import { DirectEnd } from "./direct-end.ts";
import { smallLimits, TestedMemory } from "./tested-memory.ts";

class Layout implements ConformanceProtocols {
  readonly comeBack = true;
  readonly #limits: MemoryLimits;
  readonly #memories: readonly TestedMemory[];
  readonly #ends: DirectEnd[][] = [];
  readonly #lives: number[] = [];
  readonly #protocols: ChannelMemoryProtocol[] = [];
  /** Do memories crash again and again? */
  readonly #areLost: boolean;
  #advances = 0;

  constructor(
    ranks: number,
    { memories, limits, areLost }: { memories: number; limits: MemoryLimits; areLost: boolean },
  ) {
    this.#limits = limits;
    this.#areLost = areLost;
    this.#memories = Array.from(
      { length: memories },
      (_, number) => new TestedMemory(ranks, { limits, memories, number }),
    );
  }

  make(rank: number): NewProtocol {
    const incarnation = (this.#lives[rank] ?? -1) + 1;
    this.#lives[rank] = incarnation;
    const ends = this.#memories.map((memory) => {
      const end = new DirectEnd(rank, incarnation);
      end.connect(memory.memory, memory.origin);
      return end;
    });
    this.#ends[rank] = ends;
    return (ports) => {
      const protocol = new ChannelMemoryProtocol({ ends, limits: this.#limits, marked: () => {} }, ports);
      this.#protocols[rank] = protocol;
      return protocol;
    };
  }

  dataFor(): undefined {
    return undefined;
  }

  advance(): boolean {
    let moved = false;
    for (const [number, memory] of this.#memories.entries()) {
      const ends = this.#ends.map((ofRank) => ofRank[number]!);
      for (const end of ends) if (end.unsent > 0 && end.give()) moved = true;
      const mayCrash = moved && this.#areLost && ends.every(({ isTaken }) => isTaken);
      if (!mayCrash || ++this.#advances % 3 !== 0) continue;
      memory.crash();
      for (const end of ends) end.connect(memory.memory, memory.origin);
    }
    for (const end of this.#ends.flat()) if (end.fetch() > 0) moved = true;
    return moved;
  }

  takes(): boolean {
    return true;
  }

  taken(rank: number): number {
    return this.#protocols[rank]!.report().messages;
  }
}

const layout = (name: string, memories: number, limits: MemoryLimits, areLost = false): ConformanceLayout => ({
  name,
  protocols: (ranks) => new Layout(ranks, { memories, limits, areLost }),
});

export const channelMemoryLayouts: readonly ConformanceLayout[] = [
  layout("one memory", 1, memoryLimitsDefault),
  layout("two memories", 2, memoryLimitsDefault),
  { ...layout("two memories, in small pieces", 2, smallLimits), isSlow: true },
  layout("two memories that are lost again and again", 2, memoryLimitsDefault, true),
];
