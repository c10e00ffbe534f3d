/**
 * How much senders need not keep: at each checkpoint of this process that may still be restored, the first number of every channel that
 * its image lacks. When no older image will be restored any more, the peers are told.
 */
import { lives } from "../../base/saved-classes.ts";
import type { ProtocolPorts } from "../protocol.ts";
import type { Channels } from "./channels.ts";
import { Frame, tell } from "./frames.ts";

export class TrimLimits {
  private readonly ports: ProtocolPorts;
  private readonly channels: Channels;
  /** By checkpoint, by rank of another set. */
  private readonly limitsAt = new Map<number, ReadonlyMap<number, number>>();

  constructor(ports: ProtocolPorts, channels: Channels) {
    this.ports = ports;
    this.channels = channels;
  }

  /** An image with that number is about to be taken. */
  captured(checkpoint: number): void {
    const limits = new Map<number, number>();
    for (const { peer, received } of this.channels.all()) {
      let limit = received.firstMissing;
      for (const number of this.ports.incompleteFrom(peer)) if (((number - limit) | 0) < 0) limit = number;
      limits.set(peer, limit);
    }
    this.limitsAt.set(checkpoint, limits);
  }

  /** No image with a lower number will be restored any more. */
  trimmedTo(checkpoint: number): void {
    const limits = this.limitsAt.get(checkpoint);
    for (const number of this.limitsAt.keys()) if (number < checkpoint) this.limitsAt.delete(number);
    if (limits === undefined) return;
    for (const [peer, limit] of limits) {
      if (this.channels.with(peer)?.isOpen === true) tell(this.ports, peer, Frame.TRIM, limit);
    }
  }
}

lives({ TrimLimits });
