/**
 * The sending side under a leader: as that of the parallel protocol, but a message leaves only when all living replicas of its sender hold every
 * decision that was made before it was sent. Otherwise a message could tell of a decision that its successor will make differently.
 */
import { lives } from "../../../base/saved-classes.ts";
import type { ProtocolPorts } from "../../protocol.ts";
import type { KeptSend } from "../kept-send.ts";
import { ReplicatedSends, type ReplicatedSendsParts } from "../replicated-sends.ts";
import { DecisionLog } from "./decision-log.ts";
import { ToldDecisions } from "./told-decisions.ts";

/** No transport sends more bytes with an envelope. */
const copiedBytesMax = 128 << 10;

export class LeaderSends extends ReplicatedSends {
  readonly log: DecisionLog;
  readonly told = new ToldDecisions();
  /** Messages that had to wait for a decision to be held. */
  delayed = 0;

  constructor(ports: ProtocolPorts, parts: ReplicatedSendsParts) {
    super(ports, parts);
    const { place, membership } = parts;
    const living = membership.livingOf(place.rank);
    this.log = new DecisionLog({ replica: place.replica, replicas: membership.replicas, living });
  }

  /** Does the program of this process still come to what another one has decided? */
  follows(): boolean {
    return !this.log.leads || this.told.hasChoice;
  }

  /**
   * Where the leader had room, its program may have heard that a small send is complete; that of a follower hears the same then, though its own
   * receiver has no room. What the leader could copy is less than `copiedBytesMax`.
   */
  protected override mustCopy({ bytes, isSynchronous }: KeptSend): boolean {
    return this.follows() && bytes <= copiedBytesMax && !isSynchronous;
  }

  protected override ticketNow(): number {
    return this.log.known;
  }

  protected override mayLeave(message: KeptSend): boolean {
    if (this.log.stable >= message.ticket) return true;
    if (!message.isDelayed) this.delayed++;
    message.isDelayed = true;
    return false;
  }
}

lives({ LeaderSends });
