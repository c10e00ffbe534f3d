/**
 * What this process's rank has sent in each world, as far as this process knows: by what it has sent there itself, and by what other replicas of its
 * rank tell it. Whoever makes a replica anew asks for it, and to a clone of its rank this process says what may be sent there by now.
 */
import type { ProcessName } from "../../../base/identity.ts";
import { lives } from "../../../base/saved-classes.ts";
import type { ProtocolPorts } from "../../protocol.ts";
import type { ReceivedNumbers } from "../../received-numbers.ts";
import { type Membership, replicasMax } from "../membership.ts";
import { RevivalWord } from "../revival-words.ts";
import type { WorldGates } from "../world-gates.ts";
import type { UnsentMessage, WorldNotice, WorldNotices } from "../world-notices.ts";
import type { SendChannel } from "./send-channel.ts";
import type { SendChannels } from "./send-channels.ts";
import type { WorldsParts } from "./served-worlds.ts";

export class SentInWorlds {
  private readonly ports: ProtocolPorts;
  private place: ProcessName;
  private readonly membership: Membership;
  private readonly channels: SendChannels;
  private readonly gates: WorldGates;
  private readonly notices: WorldNotices;
  private readonly hasGates: boolean;

  constructor(ports: ProtocolPorts, parts: WorldsParts) {
    const { place, membership, channels, gates, notices, hasGates } = parts;
    this.ports = ports;
    this.place = place;
    this.membership = membership;
    this.channels = channels;
    this.gates = gates;
    this.notices = notices;
    this.hasGates = hasGates;
  }

  /** What another replica of our rank has sent to a rank in a world where that has no replica any more. */
  hear(rank: number, { world, first, count }: WorldNotice): void {
    const sent = this.channels.to(rank).sentIn(world);
    if (count === 0) sent.addBefore(first);
    for (let i = 0; i < count; i++) sent.add((first + i) | 0);
    this.notices.moved();
  }

  /** By rank: what this process has sent in the world of a dead replica of its rank. */
  sentTo(world: number): (readonly [number, ReceivedNumbers])[] {
    const { membership, place } = this;
    if (!this.hasGates || (membership.worldsOf(place.rank, place.replica) & (1 << world)) === 0) return [];
    return [...this.channels.all].map((channel) => {
      const isThere = membership.isAlive(channel.rank, world);
      const unsent = isThere ? channel.unsentTo(world) : this.notices.unsentIn(channel, world);
      return [channel.rank, channel.posted.without(unsent)] as const;
    });
  }

  /** Has this process posted all that is known to have been sent in that world? */
  hasPosted(world: number): boolean {
    if (!this.hasGates) return true;
    for (const channel of this.channels.all) {
      const { posted } = channel;
      if (!posted.hasAll(channel.sentIn(world))) return false;
      if (this.membership.isAlive(channel.rank, world) && !posted.hasAll(channel.acknowledgedOf(world))) return false;
    }
    return true;
  }

  /**
   * A clone of our rank waits for its world, which may wait for it: others that play there are of this process's world, and what came to the clone's
   * source before it posted a message may have come to us later. What is not too early by the order of any replica is not.
   */
  vouch(): void {
    const clones = this.membership.aheadOf(this.place.rank);
    if (clones === 0) return;
    for (let world = 0; clones >>> world !== 0; world++) {
      if ((clones & (1 << world)) === 0) continue;
      for (const channel of this.channels.all) {
        if (this.membership.isAlive(channel.rank, world)) {
          channel.forEach((message) => {
            if ((message.has & (1 << world)) === 0) this.vouchFor(channel, world, message);
          });
        } else for (const message of this.notices.unsent(channel, world)) this.vouchFor(channel, world, message);
      }
    }
  }

  private vouchFor(channel: SendChannel, world: number, message: UnsentMessage): void {
    const { sequence } = message;
    if (channel.vouched.has(sequence) || !this.gates.mayPass(world, message)) return;
    channel.vouched.add(sequence);
    const c = channel.rank * replicasMax + world;
    this.ports.tell({ rank: this.place.rank, replica: world }, { a: RevivalWord.SENT, b: sequence, c });
  }

  /** A clone of our rank has caught up with its world, or is dead, or there is another one. */
  forgetVouched(): void {
    for (const channel of this.channels.all) channel.vouched.clear();
  }

  /** This process is a clone. */
  begin(place: ProcessName): void {
    this.place = place;
  }
}

lives({ SentInWorlds });
