/**
 * Arrived packets, one by one: one `switch` over the kinds, the work is done by the parts of the engine.
 *
 * Packets are not trusted: they may come from another machine, from a peer that is wrong or of another life. One that does
 * not fit is dropped and counted, and never touches a request that it is not about.
 */

import { lives } from "../base/saved-classes.ts";
import { BYTES, KIND, kindOf, PAYLOAD, PacketKind, SOURCE } from "../wire/packet.ts";
import type { Transport } from "../wire/transport.ts";
import { type Announcement, announcementOf, announcementsMax } from "./announcements.ts";
import type { EngineHooks, EnginePorts } from "./engine-ports.ts";
import type { Envelopes } from "./envelopes.ts";
import { Gone } from "./gone.ts";
import type { Matching } from "./matching.ts";
import type { Pass } from "./pass.ts";
import type { Peers } from "./peers.ts";
import type { Transfers } from "./transfers.ts";

interface ArrivalsParts {
  readonly transfers: Transfers;
  readonly matching: Matching;
  readonly envelopes: Envelopes;
}

export class Arrivals {
  static readonly unsaved = { pass: null };
  private readonly transport: Transport;
  private readonly hooks: EngineHooks | null;
  private readonly transfers: Transfers;
  private readonly matching: Matching;
  private readonly envelopes: Envelopes;
  private readonly peers: Peers;
  private readonly pass: Pass;
  /** Packets that did not fit, and were dropped. */
  refused = 0;
  /** Packets of lives that are over, which were dropped. */
  fenced = 0;
  /** Announcements that the layer above has not taken yet, oldest first. */
  news: Announcement[] = [];

  constructor({ transport, hooks, peers, pass }: EnginePorts, parts: ArrivalsParts) {
    this.transport = transport;
    this.hooks = hooks;
    this.transfers = parts.transfers;
    this.matching = parts.matching;
    this.envelopes = parts.envelopes;
    this.peers = peers;
    this.pass = pass;
  }

  /** Has the layer above announcements to take? */
  get hasNews(): boolean {
    return this.news.length !== 0;
  }

  takeNews(): Announcement[] {
    const { news } = this;
    this.news = [];
    return news;
  }

  /** Takes up to that many packets; false when there was none. */
  takeAll(packetsMax: number): boolean {
    const transport = this.transport;
    for (let taken = 0; taken < packetsMax; taken++) {
      const packet = transport.peek();
      if (packet < 0) return taken !== 0;
      this.take(packet);
      transport.release();
    }
    return true;
  }

  /** Handles one arrived packet; the caller releases it afterwards. */
  take(packet: number): void {
    if (!this.takeFitting(packet)) this.refused++;
  }

  /** False when the packet does not fit; then it has changed nothing. */
  private takeFitting(packet: number): boolean {
    const words = this.transport.words;
    const word = words[packet + KIND]!;
    const kind = kindOf(word);
    const peer = this.peers.ofPacket(words, packet, word);
    if (peer < 0) return kind === PacketKind.VOID;
    const life = this.peers.compareLife(peer, word);
    if (life < 0) {
      this.fenced++;
      return true;
    }
    // Of a life that this process has not been told of yet only packets of the protocol count: a new life must not speak of messages
    // before this process has told it what has come of the lives before.
    if (life > 0 && kind !== PacketKind.PROTOCOL) return false;
    // Packets of a process that is gone come too late: the requests they are about have failed, and their records may serve others. A
    // process that comes back says so in a packet of the protocol.
    if (this.peers.gone(peer) !== Gone.NO && kind !== PacketKind.PROTOCOL) return true;
    switch (kind) {
      case PacketKind.EAGER:
      case PacketKind.RTS:
        return this.matching.takeMessage(packet, kind);
      case PacketKind.CTS:
        return this.transfers.takeClearToSend(packet);
      case PacketKind.FRAGMENT:
        return this.transfers.takeFragment(packet);
      case PacketKind.RELEASE:
        return this.transfers.takeRelease(packet);
      case PacketKind.FINISH:
        return this.transfers.takeFinish(packet);
      case PacketKind.HELP:
        return this.transfers.takeHelp(packet);
      case PacketKind.EAGER_CLOSE:
        this.peers.setShut(peer, true);
        return true;
      case PacketKind.EAGER_OPEN:
        this.peers.setShut(peer, false);
        return true;
      case PacketKind.CANCEL:
        return this.envelopes.takeCancel(packet);
      case PacketKind.CANCEL_ANSWER:
        return this.transfers.takeCancelAnswer(packet);
      case PacketKind.REFUSAL:
        return this.takeRefusal(packet);
      case PacketKind.REVOKE:
        if (this.hooks?.sharesRevocations === true) return false;
        return this.hear(announcementOf(words, packet));
      case PacketKind.AGREEMENT:
      case PacketKind.INQUIRY:
        return this.hear(announcementOf(words, packet));
      case PacketKind.PROTOCOL:
        if (!this.isWhole(words[packet + BYTES]!, words[packet + PAYLOAD]!)) return false;
        if (this.hooks !== null) this.hooks.control(words, packet);
        return true;
      case PacketKind.VOID:
        return true;
      default:
        return false;
    }
  }

  /**
   * A member has refused a message because its communicator is revoked, and others may not have said so yet: the program, which sees
   * that its send has ended, must find the communicator revoked.
   */
  private takeRefusal(packet: number): boolean {
    const context = this.transfers.takeRefusal(packet);
    if (context < 0) return false;
    if (this.hooks?.sharesRevocations === true) return true;
    return this.hear({ kind: PacketKind.REVOKE, source: this.transport.words[packet + SOURCE]!, words: [context] });
  }

  /** The layer above takes it when it makes progress. False: there is too much already. */
  hear(announcement: Announcement): boolean {
    if (this.news.length >= announcementsMax) return false;
    this.news.push(announcement);
    this.pass.closeReceives();
    return true;
  }

  /** Can a payload of that length be there? */
  private isWhole(bytes: number, payload: number): boolean {
    return bytes === 0 || (bytes > 0 && bytes <= this.transport.payloadBytesMax && payload !== 0);
  }
}

lives({ Arrivals });
