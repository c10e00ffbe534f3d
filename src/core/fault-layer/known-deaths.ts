/**
 * The deaths that a process knows of. It hears of them in any order and from anybody: the root of a communicator, a verdict, the dead itself.
 * That a process is dead is true at once. That nothing of it is on its way any more is sure only when the dead has said so itself: its word
 * comes behind all its messages. Until then what it sent in life can still be received.
 */
import type { WorldRank } from "../base/brand.ts";
import { Group } from "../comm/group.ts";

export class KnownDeaths {
  /** In the order in which they were heard of. */
  readonly #order: WorldRank[] = [];
  readonly #known = new Set<WorldRank>();
  readonly #confirmed = new Set<WorldRank>();

  get count(): number {
    return this.#order.length;
  }

  /** True: it is news. */
  add(rank: WorldRank): boolean {
    if (this.#known.has(rank)) return false;
    this.#known.add(rank);
    this.#order.push(rank);
    return true;
  }

  /** The dead has said so itself. True: it is news. */
  confirm(rank: WorldRank): boolean {
    if (this.#confirmed.has(rank)) return false;
    this.#confirmed.add(rank);
    return true;
  }

  has(rank: WorldRank): boolean {
    return this.#known.size !== 0 && this.#known.has(rank);
  }

  isConfirmed(rank: WorldRank): boolean {
    return this.#confirmed.size !== 0 && this.#confirmed.has(rank);
  }

  isAmong(members: Group): boolean {
    return this.#order.some((rank) => members.has(rank));
  }

  of(members: Group): WorldRank[] {
    return this.#order.filter((rank) => members.has(rank));
  }

  groupOf(members: Group, count = Number.POSITIVE_INFINITY): Group {
    return Group.of(this.of(members).slice(0, count));
  }
}
