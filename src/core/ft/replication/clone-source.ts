/**
 * The process that a lost replica is cloned from, until its image is taken (revival.ts). Or the process itself shall go on elsewhere: then it is the source of its own
 * next life, stands still behind the image, and goes on where it was (`stay`) if that life does not begin.
 */
import type { ProcessName } from "../../base/identity.ts";
import { lives } from "../../base/saved-classes.ts";
import type { ProtocolPorts } from "../protocol.ts";
import type { Acknowledgements } from "./acknowledgements.ts";
import { type Membership, replicasMax } from "./membership.ts";
import type { ReplicatedOperations } from "./performing/replicated-operations.ts";
import { RevivalWord } from "./revival-words.ts";
import { Roll } from "./roll.ts";
import type { ReplicatedSends } from "./sending/replicated-sends.ts";

interface CloneSourceParts {
  readonly ports: ProtocolPorts;
  readonly membership: Membership;
  readonly sends: ReplicatedSends;
  readonly acknowledgements: Acknowledgements;
  readonly files: ReplicatedOperations;
  readonly place: ProcessName;
  readonly lose: (name: ProcessName, life: number) => void;
  /** Whoever plays a rank in the world of that source is told what the rank has sent to ours in that other world. */
  readonly tellSent: (source: ProcessName, world: number) => void;
}

/** No replica is being made. */
const none = -1;

/** A replica, and which round of questions it is, in one number. */
const roundFactor = replicasMax;
export const cloneOfQuestion = (question: number): number => question % roundFactor;

export class CloneSource {
  private readonly ports: ProtocolPorts;
  private readonly membership: Membership;
  private readonly sends: ReplicatedSends;
  private readonly acknowledgements: Acknowledgements;
  private readonly files: ReplicatedOperations;
  private readonly lose: (name: ProcessName, life: number) => void;
  private readonly tellSent: (source: ProcessName, world: number) => void;
  private place: ProcessName;
  /** The clone that is to be made. */
  private replica = none;
  private life = 0;
  /** Those that have not said yet that they keep what it may lack. */
  private readonly awaited = new Roll();
  /** Everybody is asked again when somebody dies who might have known something. */
  private round = 0;
  /** Has this process posted all that was sent in the clone's world? Do others of its world have to go on for that? */
  private hasReached = false;
  private isAwaitedByOthers = false;

  constructor({ ports, membership, sends, acknowledgements, files, place, lose, tellSent }: CloneSourceParts) {
    this.ports = ports;
    this.membership = membership;
    this.sends = sends;
    this.acknowledgements = acknowledgements;
    this.files = files;
    this.place = place;
    this.lose = lose;
    this.tellSent = tellSent;
  }

  /** That dead replica of our rank shall come back, from this process; or this process shall go on elsewhere, in that life. */
  prepare(replica: number, life: number): void {
    const { membership, place } = this;
    if (membership.isOver(place.rank, replica, life)) return;
    if (this.isAsked && this.replica === replica && this.life === life) return;
    if (this.isAsked) this.relax();
    if (replica !== place.replica) {
      if (membership.isAlive(place.rank, replica))
        this.lose({ rank: place.rank, replica }, membership.lifeOf(place.rank, replica));
      membership.expect(place.rank, replica, life);
    }
    this.replica = replica;
    this.life = life;
    this.sends.isConfirming = true;
    this.acknowledgements.tellAll(true);
    this.ask();
  }

  /** The next life of this process, elsewhere, is to be made: it is of the same world, and knows what this process knows. */
  private get isMoving(): boolean {
    return this.replica === this.place.replica;
  }

  private ask(): void {
    const { membership, place, ports, replica, life, isMoving } = this;
    const lost = this.lost();
    this.round++;
    this.hasReached = isMoving;
    this.isAwaitedByOthers = false;
    if (!isMoving) this.tellSent({ rank: place.rank, replica: place.replica }, replica);
    this.forOthers((name) => {
      this.awaited.add(name);
      for (const { rank, replica: dead } of lost) {
        const b = rank * replicasMax + dead;
        ports.tell(name, { a: RevivalWord.LOST, b, c: membership.lifeOf(rank, dead) });
      }
      if (name.rank === place.rank && !isMoving)
        ports.tell(name, { a: RevivalWord.FILES, b: this.files.known, c: this.files.passed });
      ports.tell(name, { a: RevivalWord.PREPARE, b: this.round * roundFactor + replica, c: life });
    });
  }

  /** Nothing of them must come any more when everybody has answered. */
  private lost(): ProcessName[] {
    const { membership } = this;
    const lost: ProcessName[] = [];
    for (let rank = 0; rank < membership.ranks; rank++) {
      const dead = membership.deadOf(rank) & ~membership.comingOf(rank);
      for (let replica = 0; dead >>> replica !== 0; replica++) {
        if ((dead & (1 << replica)) !== 0) lost.push({ rank, replica });
      }
    }
    return lost;
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

  hearPrepared(name: ProcessName, question: number, life: number): void {
    const isOurs = question === this.round * roundFactor + this.replica && life === this.life;
    if (isOurs) this.awaited.remove(name);
  }

  hearLacking(question: number, life: number): void {
    const isOurs = question === this.round * roundFactor + this.replica && life === this.life;
    if (isOurs) this.isAwaitedByOthers = true;
  }

  get isAsked(): boolean {
    return this.replica !== none;
  }

  /** May the image be taken? It can be at any time from then on, unless somebody dies. */
  get isPrepared(): boolean {
    return this.isAsked && this.awaited.isEmpty && this.isFarEnough();
  }

  get mustGoOn(): boolean {
    if (!this.isAsked) return false;
    return this.awaited.isEmpty ? !this.isFarEnough() : this.isAwaitedByOthers;
  }

  /** Another replica may have sent more in the clone's world than this process has posted: then that world has seen the future of this one. */
  private isFarEnough(): boolean {
    this.hasReached ||= this.sends.sentInWorlds.hasPosted(this.replica);
    return this.hasReached;
  }

  /** It is taken, and this process goes on; one that is moved stands still until its next life has begun, or will not. */
  captured(): void {
    if (this.isMoving) return;
    this.files.sourceIs(this.files.known, this.files.passed);
    this.files.expect(this.replica);
    this.sends.served.holdBack(this.replica);
    this.relax();
  }

  /** That next life of this process will not begin: it goes on where it is. */
  stay(life: number): void {
    if (this.isAsked && this.isMoving && this.life === life) this.relax();
  }

  /** There will be no clone. */
  died({ rank, replica }: ProcessName): void {
    this.awaited.remove({ rank, replica });
    if (!this.isAsked) return;
    if (rank === this.place.rank && replica === this.replica) this.relax();
    else this.ask();
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
