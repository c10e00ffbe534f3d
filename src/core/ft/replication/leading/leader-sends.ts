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

const smallBytesMax = 8 << 10;

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

  /** By its length alone: whether a program may see a send complete before anybody has the message is the same in all replicas. */
  protected override isSmall({ bytes, isSynchronous }: KeptSend): boolean {
    return bytes <= smallBytesMax && !isSynchronous;
  }

  /**
   * Where the leader had room for a copy, its program may have heard that a small send is complete; that of a follower hears the same
   * then, though its own receiver has no room. A large send is complete when all have the message, here as everywhere: a follower
   * that went on without would send what its leader, which waits, has not sent.
   */
  protected override mustCopy(message: KeptSend): boolean {
    return this.follows() && this.isSmall(message);
  }

  /**
   * A replica of a rank that is ahead has sent what depends on the receives of this rank only when their leader had decided them: no other message can
   * be taken in their place.
   */
  override get hasGates(): boolean {
    return false;
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
