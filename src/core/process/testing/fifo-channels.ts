/**
 * Channels between processes that have no engine, clock or program: packets arrive in the order in which they were sent, one at a time, when
 * whoever drives them says so. Deaths are told to each process by itself, in one order for all.
 */
import type { WorldRank } from "../../base/brand.ts";

/** What happens next at a process: it comes to the next step of its program, a packet arrives, or it hears of the next death; or it dies. */
export type ScheduledEvent =
  | { readonly kind: "act"; readonly at: number }
  | { readonly kind: "arrival"; readonly from: number; readonly to: number }
  | { readonly kind: "notice"; readonly at: number }
  | { readonly kind: "crash"; readonly at: number };

export const placeOf = (event: ScheduledEvent): number => (event.kind === "arrival" ? event.to : event.at);

/** Of packets under way when their sender dies: is this one lost? A lost packet takes those behind it along. */
export type Fate = (from: number, to: number) => boolean;

/** The process dies in the middle of an event, in place of sending. */
class Died extends Error {}

export class FifoChannels {
  /** [from][to] */
  private readonly channels: number[][][][];
  private readonly isLost: Fate;
  readonly deaths: WorldRank[] = [];
  /** By process: the deaths that it has heard of. */
  readonly heard: readonly WorldRank[][];
  packets = 0;
  /** The process in which something happens may not send more than so many further packets. */
  private sendsLeft = Number.POSITIVE_INFINITY;

  constructor(ranks: number, isLost: Fate = () => false) {
    this.channels = Array.from({ length: ranks }, () => Array.from({ length: ranks }, () => []));
    this.heard = Array.from({ length: ranks }, () => []);
    this.isLost = isLost;
  }

  isAlive(rank: number): boolean {
    return !this.deaths.includes(rank as WorldRank);
  }

  send(from: number, to: number, words: readonly number[]): void {
    if (this.heard[from]!.includes(to as WorldRank)) return;
    if (this.sendsLeft-- <= 0) throw new Died();
    this.packets++;
    if (this.isAlive(to)) this.channels[from]![to]!.push([...words]);
  }

  /** What can arrive at a process, and whether it can hear of a death. */
  *eventsAt(at: number): Generator<ScheduledEvent> {
    if (this.heard[at]!.length < this.deaths.length) yield { kind: "notice", at };
    for (let from = 0; from < this.channels.length; from++) {
      if (this.channels[from]![at]!.length > 0) yield { kind: "arrival", from, to: at };
    }
  }

  take(from: number, to: number): number[] {
    return this.channels[from]![to]!.shift()!;
  }

  /** A process hears of the next death. What has arrived counts, later packets of the dead do not come. */
  hear(at: number): WorldRank {
    const dead = this.deaths[this.heard[at]!.length]!;
    this.channels[dead]![at]!.length = 0;
    this.heard[at]!.push(dead);
    return dead;
  }

  /** Does something in a process, which dies in place of sending more packets than these. True: it died. */
  within(rank: number, sendsMax: number, act: () => void): boolean {
    this.sendsLeft = sendsMax;
    try {
      act();
      return false;
    } catch (error) {
      if (!(error instanceof Died)) throw error;
      this.crash(rank);
      return true;
    } finally {
      this.sendsLeft = Number.POSITIVE_INFINITY;
    }
  }

  crash(rank: number): void {
    this.deaths.push(rank as WorldRank);
    for (let to = 0; to < this.channels.length; to++) {
      this.channels[to]![rank]!.length = 0;
      if (this.isLost(rank, to)) this.channels[rank]![to]!.length = 0;
    }
  }

  /** All that the future depends on. */
  state(): unknown {
    return [this.channels, this.deaths];
  }
}
