/**
 * Replication by mirroring (the "mirror" protocol that the paper compares with, section 2.4): every replica of a sender sends to every
 * replica of the receiver, r² messages for each of the program's. Nobody stands in for anybody, because nobody is missed: a death needs
 * no recovery, except that a message whose bytes were just being taken from the dead is asked for again (mirror-sends.ts).
 */
import type { RecordId } from "../../base/brand.ts";
import { ANY_SOURCE } from "../../base/constants.ts";
import type { ProcessName } from "../../base/identity.ts";
import { ErrorClass, MpiError } from "../../base/mpi-error.ts";
import { lives } from "../../base/saved-classes.ts";
import type { Pin } from "../../request/decisions.ts";
import { R_PEER } from "../../request/records.ts";
import { CONTEXT, KIND, replicaOf, SOURCE, TAG } from "../../wire/packet.ts";
import type { ProtocolPorts } from "../protocol.ts";
import { Acknowledgements } from "./acknowledgements.ts";
import type { Membership } from "./membership.ts";
import { MirrorSends } from "./mirror-sends.ts";
import { ReplicationProtocol } from "./replication-protocol.ts";
import type { Replicated } from "./report.ts";
import type { ReplicatedSendsParts } from "./sending/replicated-sends.ts";

/** The number of a message whose bytes its receiver lacks. */
const againWord = 2;

/** All replicas of a sender have sent a message, and keep it until they hear of it. */
class MirrorWords extends Acknowledgements {
  protected override hearersOf(rank: number): number {
    return this.membership.livingOf(rank);
  }
}

export class MirrorProtocol extends ReplicationProtocol {
  declare protected readonly sends: MirrorSends;

  protected override newSends(parts: ReplicatedSendsParts): MirrorSends {
    return new MirrorSends(this.ports, parts);
  }

  protected override newWords(ports: ProtocolPorts, membership: Membership, place: ProcessName): Acknowledgements {
    return new MirrorWords(ports, membership, place);
  }

  /** So that all receives are posted. */
  override mayPass(): boolean {
    return false;
  }

  /**
   * Messages of all worlds come, also of those that are ahead: a receive of any source could take one of which, in its own world, nobody could know
   * yet (world-gates.ts).
   */
  override receivePosted(receive: RecordId): Pin {
    if (this.ports.records.get(receive, R_PEER) === ANY_SOURCE) {
      const why = "messages of all replicas come, in any order; use --replication parallel or leader";
      throw new MpiError(
        ErrorClass.UNSUPPORTED_OPERATION,
        `Cannot receive from MPI_ANY_SOURCE under --replication mirror: ${why}`,
      );
    }
    return super.receivePosted(receive);
  }

  /** Messages of all replicas come: none of them tells of a death. */
  protected override infer(): void {}

  override control(words: Int32Array, packet: number): void {
    const name = { rank: words[packet + SOURCE]!, replica: replicaOf(words[packet + KIND]!) };
    const isWish = name.rank !== this.rank && words[packet + CONTEXT] === againWord;
    if (!isWish) super.control(words, packet);
    else if (this.membership.isAlive(name.rank, name.replica)) this.sends.again(name, words[packet + TAG]!);
  }

  /** What the dead was sending is asked for: of all replicas that live, whichever of them have come so far. */
  override peerFailed(name: ProcessName, incarnation?: number): void {
    const wasAlive = this.membership.isAlive(name.rank, name.replica);
    super.peerFailed(name, incarnation);
    if (!wasAlive || this.membership.isAlive(name.rank, name.replica) || name.rank === this.rank) return;
    for (const sequence of this.ports.brokenFrom(name.rank)) {
      const living = this.membership.livingOf(name.rank);
      for (let replica = 0; living >>> replica !== 0; replica++) {
        if ((living & (1 << replica)) === 0) continue;
        this.ports.tell({ rank: name.rank, replica }, { a: againWord, b: sequence });
      }
    }
  }

  /** Nothing is sent for the lost. */
  override report(): Replicated {
    const report = super.report();
    return { ...report, sent: report.sent + report.sentForOthers, sentForOthers: 0 };
  }
}

lives({ MirrorProtocol, MirrorWords });
