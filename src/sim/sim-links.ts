/** Links between simulated nodes that carry nothing, or everything later. Nothing is lost: what a cut link holds arrives when it is restored. */
import type { Packet } from "./network.ts";

interface Link {
  isCut: boolean;
  delayNs: number;
  /** What would have arrived meanwhile, oldest first. */
  readonly held: Packet[];
}

export class SimLinks {
  /** Of a process. */
  readonly #nodeOf: (number: number) => number;
  /** Links that are cut or delayed, by their two nodes. */
  readonly #links = new Map<string, Link>();

  constructor(nodeOf: (number: number) => number) {
    this.#nodeOf = nodeOf;
  }

  cut(one: number, other: number): void {
    Object.assign(this.#link(one, other), { isCut: true, delayNs: 0 });
  }

  delay(one: number, other: number, byNs: number): void {
    this.#link(one, other).delayNs = byNs;
  }

  /** Gives back what arrives now. */
  restore(one: number, other: number): readonly Packet[] {
    const held = this.#links.get(nameOf(one, other))?.held ?? [];
    this.#links.delete(nameOf(one, other));
    return held;
  }

  /** True: it arrives when the link is restored. */
  holds(packet: Packet): boolean {
    if (this.#links.size === 0) return false;
    const link = this.#between(packet.channel.from, packet.channel.to);
    if (link?.isCut !== true) return false;
    link.held.push(packet);
    return true;
  }

  delayNs(from: number, to: number): number {
    return this.#links.size === 0 ? 0 : (this.#between(from, to)?.delayNs ?? 0);
  }

  #between(from: number, to: number): Link | undefined {
    return this.#links.get(nameOf(this.#nodeOf(from), this.#nodeOf(to)));
  }

  #link(one: number, other: number): Link {
    const name = nameOf(one, other);
    const link = this.#links.get(name) ?? { isCut: false, delayNs: 0, held: [] };
    this.#links.set(name, link);
    return link;
  }
}

const nameOf = (one: number, other: number): string => (one < other ? `${one}-${other}` : `${other}-${one}`);
