/**
 * A simulated connection: bytes travel for a while, in order, in pieces of any size; it holds a bounded number of bytes
 * each way; and it can be cut, with everything on its way.
 */
import { closed, type Wire, wouldBlock } from "../../core/service-channel/channel.ts";
import type { Random } from "../random.ts";

interface SimConnectionOptions {
  readonly random: Random;
  readonly delayNsMax: number;
  /** Bytes under way, each way. */
  readonly bytesMax: number;
}

interface SimConnectionPorts {
  nowNs(): number;
  plan(timeNs: number, act: () => void): void;
  /** The caller and the listener. */
  readonly ends: readonly [SimEnd, SimEnd];
}

interface SimEnd {
  /** What it has sent arrives, even when it is gone by now. */
  readonly sendsArrive: boolean;
  /** There is something to receive, or room to send. */
  move(): void;
}

/** One way. */
interface Way {
  readonly inbox: Uint8Array[];
  /** Bytes that were sent and have not been received. */
  bytes: number;
  /** When what was sent last arrives. */
  lastNs: number;
  /** The sender found no room, and waits for it. */
  isWaiting: boolean;
}

const newWay = (): Way => ({ inbox: [], bytes: 0, lastNs: 0, isWaiting: false });

export class SimConnection {
  readonly #options: SimConnectionOptions;
  readonly #ports: SimConnectionPorts;
  /** By sender. */
  readonly #ways: readonly [Way, Way] = [newWay(), newWay()];
  #isCut = false;

  constructor(options: SimConnectionOptions, ports: SimConnectionPorts) {
    this.#options = options;
    this.#ports = ports;
  }

  wireOf(end: 0 | 1): Wire {
    return {
      send: (memory, at, bytes) => this.#send(end, memory.subarray(at, at + bytes)),
      receive: (memory, at, bytes) => this.#receive(end === 0 ? 1 : 0, memory.subarray(at, at + bytes)),
    };
  }

  /** Both ends find out after a while. */
  cut(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    for (const end of this.#ports.ends) this.#later(0, () => end.move());
  }

  #send(from: 0 | 1, bytes: Uint8Array): number {
    if (this.#isCut) return closed;
    const { random, bytesMax } = this.#options;
    const way = this.#ways[from];
    const room = bytesMax - way.bytes;
    if (room === 0) {
      way.isWaiting = true;
      return wouldBlock;
    }
    const count = Math.min(bytes.length, room, random.chance(0.5) ? random.between(1, bytes.length) : bytes.length);
    way.bytes += count;
    const piece = bytes.slice(0, count);
    const [sender, receiver] = [this.#ports.ends[from], this.#ports.ends[1 - from]!];
    way.lastNs = this.#later(way.lastNs, () => {
      if (this.#isCut || !sender.sendsArrive) return;
      way.inbox.push(piece);
      receiver.move();
    });
    return count;
  }

  #receive(from: 0 | 1, into: Uint8Array): number {
    if (this.#isCut) return closed;
    const way = this.#ways[from];
    let came = 0;
    for (let piece = way.inbox[0]; piece !== undefined && came < into.length; piece = way.inbox[0]) {
      const part = piece.subarray(0, into.length - came);
      into.set(part, came);
      came += part.length;
      if (part.length === piece.length) way.inbox.shift();
      else way.inbox[0] = piece.subarray(part.length);
    }
    way.bytes -= came;
    if (came > 0 && way.isWaiting) {
      way.isWaiting = false;
      this.#later(0, () => this.#ports.ends[from].move());
    }
    return came === 0 ? wouldBlock : came;
  }

  /** When: not before `leastNs`. */
  #later(leastNs: number, act: () => void): number {
    const { random, delayNsMax } = this.#options;
    const timeNs = Math.max(leastNs, this.#ports.nowNs() + random.below(delayNsMax));
    this.#ports.plan(timeNs, act);
    return timeNs;
  }
}
