/**
 * Revocations of communicators, which are no messages, compared as messages are: one counts when all living replicas of the rank that tells of it have told it. A process
 * whose memory is wrong may give up the making of a communicator, and others would give it up as well.
 */
import { lives, saves } from "../../../base/saved-classes.ts";
import type { ProtocolPorts } from "../../protocol.ts";
import type { Membership } from "../membership.ts";

/** One that some replicas of a rank have told this process. */
class HeardRevocation {
  readonly rank: number;
  readonly context: number;
  readonly bits: number;
  /** Bits: the replicas that have. */
  replicas = 0;

  constructor(rank: number, context: number, bits: number) {
    this.rank = rank;
    this.context = context;
    this.bits = bits;
  }
}

interface RevocationVotesParts {
  readonly ports: Pick<ProtocolPorts, "revoked">;
  readonly membership: Membership;
}

export class RevocationVotes {
  private readonly ports: RevocationVotesParts["ports"];
  private readonly membership: Membership;
  /** Those that do not count yet. */
  private readonly open: HeardRevocation[] = [];

  constructor({ ports, membership }: RevocationVotesParts) {
    this.ports = ports;
    this.membership = membership;
  }

  /** `bits`: as in the packet of a revocation (core/process/revocations.ts). */
  hear(rank: number, replica: number, context: number, bits: number): void {
    const isIt = (other: HeardRevocation): boolean =>
      other.rank === rank && other.context === context && other.bits === bits;
    let heard = this.open.find(isIt);
    if (heard === undefined) {
      heard = new HeardRevocation(rank, context, bits);
      this.open.push(heard);
    }
    heard.replicas |= 1 << replica;
    this.settle(rank);
  }

  /** Of a replica that is dead nothing is waited for, and what it has told alone is forgotten. */
  died(rank: number): void {
    if (this.open.length !== 0) this.settle(rank);
  }

  private settle(rank: number): void {
    const living = this.membership.livingOf(rank);
    for (let at = 0; at < this.open.length; ) {
      const heard = this.open[at]!;
      const witnesses = heard.replicas & living;
      if (heard.rank !== rank || (witnesses !== living && witnesses !== 0)) at++;
      else {
        this.open.splice(at, 1);
        if (witnesses !== 0) this.ports.revoked(rank, heard.context, heard.bits);
      }
    }
  }
}

saves({ HeardRevocation });
lives({ RevocationVotes });
