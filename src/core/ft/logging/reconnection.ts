/**
 * The exchange between the two ends of a channel after one of them was restarted: once for each pair of lives, both ways, which
 * messages they hold (channel.ts). Messages that are lacking are sent again from the payload log then, and messages that are there
 * already are not sent again by a sender that posts them for the second time.
 */
import { lives } from "../../base/saved-classes.ts";
import type { ProtocolPorts } from "../protocol.ts";
import type { Channel } from "./channel.ts";
import type { Channels } from "./channels.ts";
import type { Confirmations } from "./confirmations.ts";
import { Frame, processNameOf, tell } from "./frames.ts";
import type { SenderLog } from "./sender-log.ts";

interface ReconnectionParts {
  readonly channels: Channels;
  readonly sends: SenderLog;
  readonly confirmations: Confirmations;
}

export class Reconnection {
  static readonly unsaved = { incarnation: 0 };
  private readonly ports: ProtocolPorts;
  private readonly channels: Channels;
  private readonly sends: SenderLog;
  private readonly confirmations: Confirmations;
  /** Our own life. */
  private incarnation = 0;

  constructor(ports: ProtocolPorts, { channels, sends, confirmations }: ReconnectionParts) {
    this.ports = ports;
    this.channels = channels;
    this.sends = sends;
    this.confirmations = confirmations;
  }

  /** A life begins that is not the first; `incarnations`: the present life of every rank. */
  begin(incarnation: number, incarnations: readonly number[]): void {
    this.incarnation = incarnation;
    // All peers, also those that the image does not know: they may have sent to a life of this process that knew them.
    for (const peer of this.channels.setOf.keys()) {
      const channel = this.channels.with(peer);
      if (channel === null) continue;
      this.lose(channel, incarnations[peer]!);
      this.tellPeer(channel);
    }
  }

  peerFailed(rank: number, incarnation: number): void {
    const channel = this.channels.with(rank);
    // Ranks of our own set fall with us: this life ends too, and is told nothing.
    if (channel === null || incarnation < channel.incarnation) return;
    this.lose(channel, incarnation);
  }

  peerReturned(rank: number, incarnation: number): void {
    const channel = this.channels.with(rank);
    if (channel === null || incarnation < channel.incarnation) return;
    if (incarnation > channel.incarnation) this.lose(channel, incarnation);
    this.tellPeer(channel);
  }

  private lose(channel: Channel, incarnation: number): void {
    this.ports.peerLost(processNameOf(channel.peer), incarnation);
    this.sends.lose(channel.peer);
    this.confirmations.forget(channel.peer);
    channel.close(incarnation);
  }

  private tellPeer(channel: Channel): void {
    if (!channel.mustTell(this.incarnation)) return;
    const { ports } = this;
    const { peer, received, sum } = channel;
    tell(ports, peer, Frame.BEGIN, this.incarnation, channel.incarnation);
    for (const number of received.later) tell(ports, peer, Frame.HELD, number);
    for (const number of ports.brokenFrom(peer)) tell(ports, peer, Frame.BROKEN, number);
    tell(ports, peer, Frame.SUM, sum);
    tell(ports, peer, Frame.END, received.firstMissing, channel.isOpen ? 1 : 0);
  }

  /** Words for another life of ours, from an old life of the peer's, or said twice, are not for us. */
  hearBegin(channel: Channel, theirs: number, ours: number): void {
    if (ours !== this.incarnation || theirs < channel.incarnation) return;
    if (theirs === channel.incarnation && channel.isOpen) return;
    // Its new life speaks before we have heard of the old one's death.
    if (theirs > channel.incarnation) this.lose(channel, theirs);
    channel.hearBegin();
  }

  /**
   * `isHeard`: the peer's present life has heard our words. Otherwise they may be lost: we may have known of that life before
   * it began. They are said again before any message leaves; to hear them twice does no harm.
   */
  hearEnd(channel: Channel, firstMissing: number, isHeard: boolean): void {
    if (!channel.hearEnd(firstMissing)) return;
    this.ports.peerBack(processNameOf(channel.peer));
    if (!isHeard) channel.tellAgain();
    this.tellPeer(channel);
    this.sends.resume(channel);
  }

  /** This life has sent again all messages of the lives before that others have. */
  get isComplete(): boolean {
    for (const channel of this.channels.all()) if (!channel.isRepeated) return false;
    return true;
  }
}

lives({ Reconnection });
