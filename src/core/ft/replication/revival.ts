/**
 * A lost replica comes back, as a clone of a living one, the *source* (R6; §3.4 of the paper, which has it for two replicas and FIFO channels). Nobody
 * stops for it: all that there is to agree upon is which messages the clone has, and whose business the others are.
 *
 *   source   PREPARE ─▶ everybody        "replica k will be back, in life g"
 *   others   PREPARED ─▶ source          from here on they keep messages for k, and tell the source what they hold of its own messages
 *   source   takes its image; RELAX ─▶ everybody
 *   clone    begins from it; HELLO, and what it holds ─▶ everybody
 *   siblings AWARE ─▶ everybody          they send nothing in the place of k any more
 *   others   WELCOME, and what they hold ─▶ clone, when all siblings that live are aware; now it sends
 *
 * **No message is lost.** What the clone lacks and others had sent before PREPARE has reached the source before PREPARED, on the same channel, so it
 * is in the image; what they send later they keep. What the image counts as sent is held by its receivers: sent before PREPARE it has
 * come before PREPARED, sent later it counts when it is acknowledged (`isConfirming`). What the source sends after its image
 * the clone sends again. And nobody waits for a clone whose image is not taken yet: until RELAX the source acknowledges everything to
 * everybody, and what it holds the clone will hold.
 *
 * **None is taken twice**: by its number. And no receiver has two senders that both take a message for received which it has only half: the
 * clone sends when the sibling that stood in for it has stopped. Messages whose bytes that one is still sending stay its business
 * (ELSEWHERE); if it dies their receiver asks for them (AGAIN).
 *
 * **Whoever dies**, it is the death of a process in a certain life, declared by the dispatcher as all are. Of an attempt that has come to nothing
 * the dispatcher says so: the life that was expected is over. Lives only grow, so late words of earlier attempts are known as such.
 *
 * **A living replica goes on elsewhere** (ADR 79): it is the source of its own next life, PREPARE names its own replica. It is dead at no time: until HELLO everybody
 * speaks with the life that it has, which stands still behind its image, and keeps what that may not have taken; with HELLO the next life takes its place. RELAX instead of it: it stays.
 *
 * One clone of the job is made at a time (core/service/clone-schedule.ts).
 */
import type { ProcessName } from "../../base/identity.ts";
import { lives, saves } from "../../base/saved-classes.ts";
import type { CloneBeginning } from "../clones.ts";
import type { ProtocolPorts } from "../protocol.ts";
import type { ReceivedNumbers } from "../received-numbers.ts";
import { type Acknowledgements, heldWord, runMax } from "./acknowledgements.ts";
import { CloneSource, cloneOfQuestion } from "./clone-source.ts";
import type { MessageComparison } from "./comparing/message-comparison.ts";
import { type Membership, replicasMax } from "./membership.ts";
import type { ReplicatedOperations } from "./performing/replicated-operations.ts";
import { RevivalWord } from "./revival-words.ts";
import { Roll } from "./roll.ts";
import type { SeenOrder } from "./seen-order.ts";
import type { ReplicatedSends } from "./sending/replicated-sends.ts";
import { SourceAnswers } from "./source-answers.ts";
import type { WorldGates } from "./world-gates.ts";

/** A clone of another rank that this process has heard of. */
class Returning {
  readonly name: ProcessName;
  readonly life: number;
  /** Bits: its siblings that may still send in its place. */
  unaware: number;
  hasTold = false;
  isWelcome = false;

  constructor(name: ProcessName, life: number, unaware: number) {
    this.name = name;
    this.life = life;
    this.unaware = unaware;
  }
}

/** A replica that is about to go on elsewhere, in that life. */
class Moving {
  readonly replica: number;
  readonly life: number;

  constructor(replica: number, life: number) {
    this.replica = replica;
    this.life = life;
  }
}

/** The last clone that a replica has said to know of. */
class Awareness {
  readonly replica: number;
  readonly life: number;

  constructor(replica: number, life: number) {
    this.replica = replica;
    this.life = life;
  }
}

/** Messages to a rank in a world. */
interface Channel {
  readonly to: number;
  readonly world: number;
}

interface RevivalParts {
  readonly ports: ProtocolPorts;
  readonly membership: Membership;
  readonly sends: ReplicatedSends;
  readonly acknowledgements: Acknowledgements;
  readonly files: ReplicatedOperations;
  readonly order: SeenOrder;
  readonly gates: WorldGates;
  readonly place: ProcessName;
  /** Messages of a rank that have come. */
  readonly numbersOf: (rank: number) => ReceivedNumbers;
  /** A life that was not known to be over must be. */
  readonly lose: (name: ProcessName, life: number) => void;
  /** Null: messages are not compared. */
  readonly comparing: MessageComparison | null;
}

export class Revival {
  private readonly ports: ProtocolPorts;
  private readonly membership: Membership;
  private readonly sends: ReplicatedSends;
  private readonly acknowledgements: Acknowledgements;
  private readonly files: ReplicatedOperations;
  private readonly gates: WorldGates;
  private readonly numbersOf: (rank: number) => ReceivedNumbers;
  private readonly lose: (name: ProcessName, life: number) => void;
  private readonly comparing: MessageComparison | null;
  private place: ProcessName;
  /** The life of this process. */
  private life = 0;
  readonly source: CloneSource;
  readonly answers: SourceAnswers;
  /** By rank. */
  private readonly returning = new Map<number, Returning>();
  /** By rank. */
  private readonly moving = new Map<number, Moving>();
  /** By rank and replica. */
  private readonly awareness = new Map<string, Awareness>();
  /** By rank: messages that are being taken from a replica which sends to another world now, or does not hear of its own any more. */
  private readonly foreign = new Map<number, Set<number>>();
  /** A clone's: who has not welcomed it yet. */
  private readonly strangers = new Roll();
  private hasBegun = false;
  /** This process has gone on elsewhere. */
  private isMoved = false;

  constructor(parts: RevivalParts) {
    this.ports = parts.ports;
    this.membership = parts.membership;
    this.sends = parts.sends;
    this.acknowledgements = parts.acknowledgements;
    this.files = parts.files;
    this.gates = parts.gates;
    this.numbersOf = parts.numbersOf;
    this.lose = parts.lose;
    this.place = parts.place;
    this.comparing = parts.comparing;
    const tellSent = (source: ProcessName, world: number): void => void this.tellSent(source, world);
    this.source = new CloneSource({ ...parts, tellSent });
    this.answers = new SourceAnswers(parts);
  }

  // Words

  hear(name: ProcessName, kind: number, b: number, c: number): void {
    switch (kind) {
      case RevivalWord.PREPARE:
        if (this.isAlive(name)) this.prepare(name, b, c);
        return;
      case RevivalWord.PREPARED:
        if (this.isAlive(name)) this.source.hearPrepared(name, b, c);
        return;
      case RevivalWord.RELAX:
        if (this.isAlive(name)) this.relax(name);
        return;
      case RevivalWord.FILES:
        if (name.rank === this.place.rank) this.files.sourceIs(b, c);
        return;
      case RevivalWord.HELLO:
        this.meet(name, b);
        return;
      case RevivalWord.BELOW:
        if (name.rank !== this.place.rank && this.isAlive(name)) this.sends.receivers.hearBelow(name, b);
        return;
      case RevivalWord.TOLD:
        this.hearTold(name);
        return;
      case RevivalWord.AWARE:
        this.hearAware(name, b, c);
        return;
      case RevivalWord.ELSEWHERE:
        if (name.rank !== this.place.rank && this.isAlive(name)) this.sends.receivers.elsewhere(name, b);
        return;
      case RevivalWord.WELCOME:
        if (b === this.life && name.rank !== this.place.rank && this.isAlive(name)) this.welcomed(name);
        return;
      case RevivalWord.AGAIN:
        if (name.rank !== this.place.rank && this.isAlive(name)) this.sends.receivers.sendAgain(name, b);
        return;
      case RevivalWord.CAUGHT_UP:
        if (this.isAlive(name)) this.hearCaughtUp(name, b);
        return;
      case RevivalWord.LOST:
        if (this.isAlive(name)) this.hearLost(Math.floor(b / replicasMax), b % replicasMax, c);
        return;
      case RevivalWord.SENT:
      case RevivalWord.SENT_BEFORE:
        if (this.isAlive(name)) this.hearSent(b, c, kind === RevivalWord.SENT_BEFORE);
        return;
      case RevivalWord.SAID:
        if (this.isAlive(name)) this.answers.hearSaid(name, b, c);
        return;
      case RevivalWord.LACKING:
        if (this.isAlive(name)) this.source.hearLacking(b, c);
    }
  }

  private isAlive({ rank, replica }: ProcessName): boolean {
    return this.membership.isAlive(rank, replica);
  }

  private tell(to: ProcessName, a: number, b = 0, c = 0): void {
    this.ports.tell(to, { a, b, c });
  }

  /** All messages of its rank that are wholly here. */
  private tellHeld(to: ProcessName): void {
    const { firstMissing, later } = this.numbersOf(to.rank);
    const lacking = new Set(this.ports.incompleteFrom(to.rank));
    let below = firstMissing;
    for (const number of lacking) if (((number - below) | 0) < 0) below = number;
    this.tell(to, RevivalWord.BELOW, below);
    const held: number[] = [...later].filter((number) => !lacking.has(number));
    for (let number = below; number !== firstMissing; number = (number + 1) | 0) {
      if (!lacking.has(number)) held.push(number);
    }
    held.sort((one, other) => (one - other) | 0);
    for (let at = 0; at < held.length; ) {
      let end = at + 1;
      while (end < held.length && end - at < runMax && held[end] === ((held[end - 1]! + 1) | 0)) end++;
      this.tell(to, heldWord, held[at]!, held[end - 1]!);
      at = end;
    }
  }

  // Before there is a clone

  private prepare(source: ProcessName, question: number, life: number): void {
    const { membership, place } = this;
    const { rank } = source;
    const replica = cloneOfQuestion(question);
    if (replica < 0 || replica >= membership.replicas) return;
    if (rank !== place.rank) {
      // Also when it has come to nothing: the source, which may not know it, waits to hear of what it sends until it relaxes.
      this.acknowledgements.tellAlso(source, true);
      this.tellHeld(source);
    }
    if (membership.isOver(rank, replica, life)) return;
    if (replica === source.replica) {
      this.prepareMove(source, question, life);
      return;
    }
    const clone = { rank, replica };
    if (this.isAlive(clone)) this.lose(clone, membership.lifeOf(rank, replica));
    membership.expect(rank, replica, life);
    if (rank === place.rank) {
      this.files.expect(replica);
      this.sends.served.holdBack(replica);
      for (const [to, numbers] of this.sends.sentInWorlds.sentTo(replica))
        this.saySent(source, numbers, { to, world: replica });
    } else this.sends.receivers.expect(clone, source.replica);
    const isAsked = this.tellSent(source, replica, { number: question, life });
    if (isAsked) this.answers.ask(source, question, life);
    else this.tell(source, RevivalWord.PREPARED, question, life);
  }

  /** Its next life is of its own world, and as far as that: nothing has to be known but what it may not have taken. */
  private prepareMove(source: ProcessName, question: number, life: number): void {
    this.moving.set(source.rank, new Moving(source.replica, life));
    if (source.rank !== this.place.rank) this.sends.receivers.guard(source);
    this.tell(source, RevivalWord.PREPARED, question, life);
  }

  /**
   * The clone will be as far as its source, and what comes to it there must not depend on more. So whatever this process knows to have been sent
   * to it in the clone's world, by ranks that have no replica there any more, whoever plays them in the source's world is told, and answers when
   * that has been sent there too. True: this process is one of those.
   */
  private tellSent(
    source: ProcessName,
    world: number,
    question?: { readonly number: number; readonly life: number },
  ): boolean {
    const { membership, place, sends } = this;
    if (!sends.hasGates) return false;
    let isAsked = false;
    for (let rank = 0; rank < membership.ranks; rank++) {
      if (membership.isAlive(rank, world)) continue;
      const player = { rank, replica: membership.substituteOf(rank, source.replica) };
      if (rank === place.rank) isAsked = rank !== source.rank && player.replica === place.replica;
      if (rank === place.rank || player.replica < 0) continue;
      const sent = place.replica === world ? this.numbersOf(rank) : this.gates.sentIn(world, rank);
      if (sent !== undefined) this.saySent(player, sent, { to: place.rank, world });
      if (rank !== source.rank && question !== undefined)
        this.tell(player, RevivalWord.SAID, question.number, question.life);
    }
    return isAsked;
  }

  private saySent(player: ProcessName, numbers: ReceivedNumbers, { to, world }: Channel): void {
    const channel = to * replicasMax + world;
    this.tell(player, RevivalWord.SENT_BEFORE, numbers.firstMissing, channel);
    for (const number of numbers.later) this.tell(player, RevivalWord.SENT, number, channel);
  }

  private hearSent(number: number, channel: number, isBefore: boolean): void {
    const { membership, place } = this;
    const [rank, world] = [Math.floor(channel / replicasMax), channel % replicasMax];
    const isOurs = rank >= 0 && rank < membership.ranks && rank !== place.rank && world < membership.replicas;
    if (isOurs) this.sends.sentInWorlds.hear(rank, { world, first: number, count: isBefore ? 0 : 1 });
  }

  private hearLost(rank: number, replica: number, life: number): void {
    const isOurs = rank >= 0 && rank < this.membership.ranks && replica < this.membership.replicas;
    if (isOurs && this.membership.isAlive(rank, replica)) this.lose({ rank, replica }, life);
  }

  private relax(source: ProcessName): void {
    const { rank, replica } = source;
    const stays = this.moving.get(rank)?.replica === replica;
    if (stays) this.moving.delete(rank);
    if (rank === this.place.rank) return;
    if (stays) this.sends.receivers.unguard(source);
    this.acknowledgements.tellAlso(source, false);
    // Of what has come and is not judged yet it will hear as well.
    for (const number of this.comparing?.asideFrom(source.rank) ?? []) this.foreignOf(source.rank).add(number);
    this.sends.receivers.disinherit(source);
  }

  // The clone is there

  private meet(clone: ProcessName, life: number): void {
    const { membership, place } = this;
    const { rank, replica } = clone;
    if (membership.isOver(rank, replica, life)) return;
    if (this.isAlive(clone)) {
      if (membership.lifeOf(rank, replica) === life) return;
      const moving = this.moving.get(rank);
      if (moving?.replica === replica && moving.life === life) {
        this.meetMoved(clone, life);
        return;
      }
      this.lose(clone, membership.lifeOf(rank, replica));
    }
    // Whoever lives has said that it expects it: otherwise there were no image.
    if ((membership.comingOf(rank) & (1 << replica)) === 0) return;
    this.acknowledgements.flush();
    const before = membership.substituteOf(rank, place.replica);
    membership.return(rank, replica, life);
    this.ports.peerLost(clone, life);
    this.ports.peerBack(clone);
    if (this.sends.hasGates) membership.setAhead(rank, replica, true);
    if (rank === place.rank) {
      this.sends.served.resign(replica);
      this.files.returned(replica);
      this.sayAware(clone, life);
      return;
    }
    let unaware = membership.livingOf(rank) & ~(1 << replica);
    for (let sibling = 0; unaware >>> sibling !== 0; sibling++) {
      const known = this.awareness.get(`${rank} ${sibling}`);
      if (known?.replica === replica && known.life === life) unaware &= ~(1 << sibling);
    }
    this.returning.set(rank, new Returning(clone, life, unaware));
    this.comparing?.returned(rank, replica);
    this.sends.receivers.back(clone);
    // The one that has sent to this process knows what it has sent; of what the clone will send it must hear.
    if (before >= 0 && before !== membership.substituteOf(rank, place.replica))
      this.tellHeld({ rank, replica: before });
  }

  /** Nobody has stood in for it; whatever was on its way to or from the life before is lost, and said again. */
  private meetMoved(clone: ProcessName, life: number): void {
    const { membership, place } = this;
    const { rank, replica } = clone;
    this.moving.delete(rank);
    this.acknowledgements.flush();
    membership.return(rank, replica, life);
    this.ports.peerLost(clone, life);
    this.ports.peerBack(clone);
    if (rank === place.rank) {
      // First: it hears nothing of us before, which would be for the life before it.
      this.tell(clone, RevivalWord.AWARE, replica, life);
      this.files.returned(replica);
      this.sends.served.tellEverything();
      return;
    }
    this.acknowledgements.tellAlso(clone, false);
    this.returning.set(rank, new Returning(clone, life, 0));
    this.comparing?.returned(rank, replica);
    this.sends.receivers.moved(clone);
    this.askAgain(rank);
  }

  private sayAware(clone: ProcessName, life: number): void {
    const { membership, place } = this;
    for (let rank = 0; rank < membership.ranks; rank++) {
      if (rank === place.rank) continue;
      const living = membership.livingOf(rank);
      for (let replica = 0; living >>> replica !== 0; replica++) {
        if ((living & (1 << replica)) !== 0) this.tell({ rank, replica }, RevivalWord.AWARE, clone.replica, life);
      }
    }
    this.tell(clone, RevivalWord.AWARE, clone.replica, life);
  }

  private hearCaughtUp(clone: ProcessName, life: number): void {
    const { rank, replica } = clone;
    if (this.membership.lifeOf(rank, replica) !== life) return;
    this.membership.setAhead(rank, replica, false);
    if (rank === this.place.rank) this.sends.sentInWorlds.forgetVouched();
    else this.sends.receivers.caughtUp(clone);
  }

  private hearTold(clone: ProcessName): void {
    const returning = this.returning.get(clone.rank);
    if (returning === undefined || returning.name.replica !== clone.replica || returning.hasTold) return;
    returning.hasTold = true;
    this.sends.receivers.open(clone);
    this.welcome(returning);
  }

  private hearAware(sibling: ProcessName, replica: number, life: number): void {
    if (!this.isAlive(sibling)) return;
    if (sibling.rank === this.place.rank) {
      if (replica === this.place.replica && life === this.life) this.welcomed(sibling);
      return;
    }
    this.awareness.set(`${sibling.rank} ${sibling.replica}`, new Awareness(replica, life));
    const returning = this.returning.get(sibling.rank);
    if (returning?.name.replica !== replica || returning.life !== life) return;
    returning.unaware &= ~(1 << sibling.replica);
    this.welcome(returning);
  }

  /** Nobody sends to this process in the clone's place any more. */
  private welcome(returning: Returning): void {
    const { name, life, unaware, hasTold, isWelcome } = returning;
    if (unaware !== 0 || !hasTold || isWelcome) return;
    returning.isWelcome = true;
    this.tellHeld(name);
    if (this.membership.substituteOf(name.rank, this.place.replica) === name.replica) {
      for (const number of this.ports.incompleteFrom(name.rank)) {
        if (this.ports.isBroken(name.rank, number)) continue;
        this.foreignOf(name.rank).add(number);
        this.tell(name, RevivalWord.ELSEWHERE, number);
      }
    }
    this.tell(name, RevivalWord.WELCOME, life);
  }

  private foreignOf(rank: number): Set<number> {
    const numbers = this.foreign.get(rank) ?? new Set<number>();
    this.foreign.set(rank, numbers);
    return numbers;
  }

  /** The replica that the sender of a message does not know of yet, −1: it knows of all. */
  unknownTo(rank: number, sender: number): number {
    if (this.returning.size === 0) return -1;
    const returning = this.returning.get(rank);
    return returning !== undefined && (returning.unaware & (1 << sender)) !== 0 ? returning.name.replica : -1;
  }

  /** All of a message is here. Whoever sends to this process now, and is not the one that sent it, must hear of it too. */
  held(rank: number, sequence: number): void {
    if (this.foreign.size === 0 || this.foreign.get(rank)?.delete(sequence) !== true) return;
    const sender = this.membership.substituteOf(rank, this.place.replica);
    if (sender >= 0) this.tell({ rank, replica: sender }, heldWord, sequence, sequence);
  }

  // This process is the clone

  /** It has the image of its source, and is that replica from now on, in that life. `isMoved`: it was that replica before. */
  begin(place: ProcessName, life: number, { members }: CloneBeginning, isMoved: boolean): void {
    const { membership } = this;
    this.place = place;
    this.life = life;
    this.hasBegun = true;
    this.returning.clear();
    this.moving.clear();
    this.awareness.clear();
    this.foreign.clear();
    this.strangers.clear();
    this.source.begin(place);
    this.answers.begin(place);
    for (const { rank, replica, life: present, isAlive } of members) {
      if (!membership.isOver(rank, replica, present)) membership.return(rank, replica, present);
      if (!isAlive) membership.die(rank, replica, present);
      if (rank === place.rank && replica === place.replica) continue;
      this.ports.peerLost({ rank, replica }, present);
      // Others may not know yet that the life before is over: messages from before their first word to this one are for that.
      if (isAlive && !isMoved) this.ports.peerBack({ rank, replica });
    }
    this.isMoved = isMoved;
    this.sends.begin(place, isMoved);
    this.comparing?.begin();
    this.acknowledgements.begin(place.replica);
    this.files.begin(place.replica, membership.livingOf(place.rank), isMoved);
    for (const member of members) {
      const isOwn = member.rank === place.rank && member.replica === place.replica;
      if (isOwn || !member.isAlive) continue;
      this.strangers.add(member);
      this.tell(member, RevivalWord.HELLO, life);
      if (member.rank === place.rank) continue;
      this.tellHeld(member);
      this.tell(member, RevivalWord.TOLD);
    }
    this.sends.served.tellEverything();
  }

  /** This process, a clone, sends to its world like any other now. */
  caughtUp(): void {
    const { membership, place } = this;
    for (let rank = 0; rank < membership.ranks; rank++) {
      const own = rank === place.rank ? 1 << place.replica : 0;
      const living = membership.livingOf(rank) & ~own;
      for (let replica = 0; living >>> replica !== 0; replica++) {
        if ((living & (1 << replica)) !== 0) this.tell({ rank, replica }, RevivalWord.CAUGHT_UP, this.life);
      }
    }
  }

  private welcomed(name: ProcessName): void {
    if (!this.strangers.remove(name)) return;
    if (this.isMoved) this.ports.peerBack(name);
    if (name.rank !== this.place.rank) this.sends.receivers.open(name);
    else if (this.isMoved) this.files.met(name.replica);
  }

  /** Are words of that replica of our rank for the life before this one? */
  isDeafTo(replica: number): boolean {
    return this.isMoved && this.strangers.has({ rank: this.place.rank, replica });
  }

  /** A clone: does everybody know it, and is its world as far as it? */
  get isBack(): boolean {
    return this.hasBegun && this.strangers.isEmpty && !this.gates.isAhead;
  }

  // Deaths

  /** A process is dead, or one that was being made will not come. Everybody else has been told so. */
  died(name: ProcessName): void {
    const { rank, replica } = name;
    this.source.died(name);
    this.answers.died(name);
    this.strangers.remove(name);
    if (this.moving.get(rank)?.replica === replica) this.moving.delete(rank);
    const returning = this.returning.get(rank);
    if (returning?.name.replica === replica) this.returning.delete(rank);
    else if (returning !== undefined) {
      returning.unaware &= ~(1 << replica);
      this.welcome(returning);
    }
    this.askAgain(rank);
  }

  /** For messages whose bytes were being taken from a life that is over, and that is not the one that sends to this process. */
  private askAgain(rank: number): void {
    const sender = this.membership.substituteOf(rank, this.place.replica);
    for (const number of [...(this.foreign.get(rank) ?? [])]) {
      if (!this.ports.isBroken(rank, number)) continue;
      this.foreign.get(rank)!.delete(number);
      if (sender >= 0) this.tell({ rank, replica: sender }, RevivalWord.AGAIN, number);
    }
  }
}

saves({ Returning, Moving, Awareness });
lives({ Revival });
