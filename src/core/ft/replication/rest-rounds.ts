/**
 * All processes of a job come to rest together, those of all worlds (ADR 69). Marks of a capture stay in their world (`core/process/settling.ts`); what replicas tell each other
 * across worlds, acknowledgements, votes, operations, would be in no image. So each process says in every round of marks, to all processes of
 * other worlds, that it is in that round, and whether it has heard or done anything since the one before: channels are FIFO, so whatever was said before has
 * been heard when the word of the round is.
 */
import type { ProcessName } from "../../base/identity.ts";
import { lives } from "../../base/saved-classes.ts";
import type { ProtocolPorts, RestRounds } from "../protocol.ts";
import { type Membership, replicasMax } from "./membership.ts";

/** The first word of packets; then the round, and 1: its sender had something to do. Other words with the low bits of votes have another part (comparing/whole-votes.ts). */
export const restWord = 14 | (3 << 4);

export class WorldRounds implements RestRounds {
  static readonly unsaved = { heard: null, hasHeard: false };
  private readonly ports: ProtocolPorts;
  private readonly membership: Membership;
  private readonly replica: number;
  private readonly isUnfit: () => boolean;
  /** By process: the last rounds that it has said to be in, and whether it was busy. A process may be one round ahead of another. */
  private readonly heard = new Map<number, readonly { readonly round: number; readonly isBusy: boolean }[]>();
  /** Something else has been heard since this process's last round began. */
  private hasHeard = false;

  /** `isUnfit`: may no image of this process be taken now, even if it rests? */
  constructor(ports: ProtocolPorts, membership: Membership, replica: number, isUnfit: () => boolean) {
    this.ports = ports;
    this.isUnfit = isUnfit;
    this.membership = membership;
    this.replica = replica;
  }

  /** A packet of the protocol has come. */
  noticed(): void {
    this.hasHeard = true;
  }

  hear({ rank, replica }: ProcessName, round: number, isBusy: boolean): void {
    const key = rank * replicasMax + replica;
    const before = this.heard.get(key) ?? [];
    this.heard.set(key, [...before.slice(-1), { round, isBusy }]);
  }

  begin(round: number, isBusy: boolean): boolean {
    const isBusyHere = isBusy || this.hasHeard || this.isUnfit();
    this.hasHeard = false;
    this.forOthers((name) => this.ports.tell(name, { a: restWord, b: round, c: isBusyHere ? 1 : 0 }));
    const own = { rank: this.ports.rank, replica: this.replica };
    this.hear(own, round, isBusyHere);
    return isBusyHere;
  }

  isOver(round: number): boolean {
    let isOver = true;
    this.forOthers((name) => {
      if (this.find(name, round) === undefined) isOver = false;
    });
    return isOver;
  }

  isQuiet(round: number): boolean {
    let isQuiet = this.find({ rank: this.ports.rank, replica: this.replica }, round)?.isBusy === false;
    this.forOthers((name) => {
      if (this.find(name, round)?.isBusy !== false) isQuiet = false;
    });
    return isQuiet;
  }

  private find({ rank, replica }: ProcessName, round: number) {
    return this.heard.get(rank * replicasMax + replica)?.find((word) => word.round === round);
  }

  /** All that live in other worlds. */
  private forOthers(visit: (name: ProcessName) => void): void {
    const { membership } = this;
    for (let rank = 0; rank < membership.ranks; rank++) {
      const others = membership.livingOf(rank) & ~(1 << this.replica);
      for (let replica = 0; others >>> replica !== 0; replica++) {
        if ((others & (1 << replica)) !== 0) visit({ rank, replica });
      }
    }
  }
}

lives({ WorldRounds });
