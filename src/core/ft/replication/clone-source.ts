/** The process that a lost replica is cloned from, until its image is taken (revival.ts). */
import type { ProcessName } from "../../base/identity.ts";
import { lives } from "../../base/saved-classes.ts";
import type { ProtocolPorts } from "../protocol.ts";
import type { Acknowledgements } from "./acknowledgements.ts";
import type { Membership } from "./membership.ts";
import type { ReplicatedOperations } from "./performing/replicated-operations.ts";
import type { ReplicatedSends } from "./replicated-sends.ts";
import { RevivalWord } from "./revival-words.ts";
import { Roll } from "./roll.ts";

interface CloneSourceParts {
  readonly ports: ProtocolPorts;
  readonly membership: Membership;
  readonly sends: ReplicatedSends;
  readonly acknowledgements: Acknowledgements;
  readonly files: ReplicatedOperations;
  readonly place: ProcessName;
  readonly lose: (name: ProcessName, life: number) => void;
}

/** No replica is being made. */
const none = -1;

export class CloneSource {
  private readonly ports: ProtocolPorts;
  private readonly membership: Membership;
  private readonly sends: ReplicatedSends;
  private readonly acknowledgements: Acknowledgements;
  private readonly files: ReplicatedOperations;
  private readonly lose: (name: ProcessName, life: number) => void;
  private place: ProcessName;
  /** The clone that is to be made. */
  private replica = none;
  private life = 0;
  /** Those that have not said yet that they keep what it may lack. */
  private readonly awaited = new Roll();

  constructor({ ports, membership, sends, acknowledgements, files, place, lose }: CloneSourceParts) {
    this.ports = ports;
    this.membership = membership;
    this.sends = sends;
    this.acknowledgements = acknowledgements;
    this.files = files;
    this.place = place;
    this.lose = lose;
  }

  /** That dead replica of our rank shall come back, from this process. */
  prepare(replica: number, life: number): void {
    const { membership, place, ports } = this;
    if (replica === place.replica || membership.isOver(place.rank, replica, life)) return;
    if (this.isAsked && this.replica === replica && this.life === life) return;
    if (this.isAsked) this.relax();
    if (membership.isAlive(place.rank, replica))
      this.lose({ rank: place.rank, replica }, membership.lifeOf(place.rank, replica));
    membership.expect(place.rank, replica, life);
    this.replica = replica;
    this.life = life;
    this.sends.isConfirming = true;
    this.acknowledgements.tellAll(true);
    this.forOthers((name) => {
      this.awaited.add(name);
      if (name.rank === place.rank)
        ports.tell(name, { a: RevivalWord.FILES, b: this.files.known, c: this.files.passed });
      ports.tell(name, { a: RevivalWord.PREPARE, b: replica, c: life });
    });
  }

  private forOthers(act: (name: ProcessName) => void): void {
    const { membership, place } = this;
    for (let rank = 0; rank < membership.ranks; rank++) {
      const living = membership.livingOf(rank);
      for (let replica = 0; living >>> replica !== 0; replica++) {
        const isOwn = rank === place.rank && replica === place.replica;
        if ((living & (1 << replica)) !== 0 && !isOwn) act({ rank, replica });
      }
    }
  }

  hearPrepared(name: ProcessName, replica: number, life: number): void {
    if (replica === this.replica && life === this.life) this.awaited.remove(name);
  }

  get isAsked(): boolean {
    return this.replica !== none;
  }

  /** May the image be taken? It can be at any time from then on. */
  get isPrepared(): boolean {
    return this.isAsked && this.awaited.isEmpty;
  }

  /** It is taken, and this process goes on. */
  captured(): void {
    this.files.sourceIs(this.files.known, this.files.passed);
    this.files.expect(this.replica);
    this.relax();
  }

  /** There will be no clone. */
  died({ rank, replica }: ProcessName): void {
    this.awaited.remove({ rank, replica });
    if (rank === this.place.rank && replica === this.replica) this.relax();
  }

  private relax(): void {
    this.replica = none;
    this.awaited.clear();
    this.sends.isConfirming = false;
    this.acknowledgements.tellAll(false);
    this.forOthers((name) => this.ports.tell(name, { a: RevivalWord.RELAX }));
  }

  /** This process is the clone: what its source was about is not its business. */
  begin(place: ProcessName): void {
    this.place = place;
    this.replica = none;
    this.awaited.clear();
  }
}

lives({ CloneSource });
