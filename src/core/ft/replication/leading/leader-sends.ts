/**
 * The sending side under a leader: as that of the parallel protocol, but a message leaves only when all living replicas of its sender hold every
 * decision that was made before it was sent. Otherwise a message could tell of a decision that its successor will make differently.
 */
import { lives } from "../../../base/saved-classes.ts";
import type { ProtocolPorts } from "../../protocol.ts";
import type { KeptSend } from "../sending/kept-send.ts";
import { ReplicatedSends, type ReplicatedSendsParts } from "../sending/replicated-sends.ts";
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

  /** By its length alone: whether a program may see a send complete before anybody has the message is the same in all replicas. */
  protected override isSmall({ bytes, isSynchronous }: KeptSend): boolean {
    return bytes <= smallBytesMax && !isSynchronous;
  }

  /**
   * A small send is complete at once, in the leader and in followers, whatever the room: a replica that waited where another one went on would lack what
   * that one has sent since, and others may have decided by it (seed 9200055). A large one is complete when all have the message, for the same reason.
   */
  protected override mustCopy(message: KeptSend): boolean {
    return this.isSmall(message);
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
