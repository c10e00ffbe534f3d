/**
 * The messages of this process to one rank: those that some living replica of the rank may lack, in the order of posting, and the
 * numbers that each replica has acknowledged. Replicas of the sender are not equally fast: an acknowledgement may come before this
 * process has posted the message.
 */
import { saves } from "../../../base/saved-classes.ts";
import { ReceivedNumbers } from "../../received-numbers.ts";
import type { KeptSend } from "./kept-send.ts";

/** Places of messages that are over are given back when they are so many, and half of all. */
const emptyMax = 64;

/** Bits. */
interface ChannelStart {
  readonly dead: number;
  readonly closed: number;
  readonly borrowed: number;
}

export class SendChannel {
  readonly rank: number;
  /** Bits: replicas of the rank that are dead. */
  dead: number;
  /** Bits: replicas that live or are being made, and to which nothing is sent yet. */
  closed: number;
  /** Bits: replicas that are about to go on elsewhere: they have what they say to have, not what was sent to them. */
  guarded = 0;
  /** By replica: messages that it is taking from another replica of ours, which lives. If that dies it asks for them. */
  private readonly elsewhere = new Map<number, Set<number>>();
  private readonly acknowledged: ReceivedNumbers[];
  private readonly sent: ReceivedNumbers[];
  /** Bits: replicas that hold what was not sent in their worlds, because they had it from the image of another. */
  borrowed: number;
  /** Messages that a clone of our own rank has been told it may send (`SentInWorlds.vouch`). */
  readonly vouched = new Set<number>();
  /** The numbers of all that were posted. */
  readonly posted = new ReceivedNumbers();
  private readonly kept: KeptSend[] = [];
  /** Those of them that are of nonblocking collectives: no other message waits for them, nor they for others. */
  private woven = 0;
  /** Messages that ever were before the first of `kept`, and how many of `kept` are over without a gap. */
  private gone = 0;
  private empty = 0;
  /** By replica: the position of the first message that has not been put on its way to it, if this process sends to it. */
  readonly next: number[];

  constructor(rank: number, replicas: number, { dead, closed, borrowed }: ChannelStart) {
    this.rank = rank;
    this.dead = dead;
    this.closed = closed;
    this.borrowed = borrowed;
    this.sent = Array.from({ length: replicas }, () => new ReceivedNumbers());
    this.acknowledged = Array.from({ length: replicas }, () => new ReceivedNumbers());
    this.next = new Array<number>(replicas).fill(0);
  }

  /** Positions count all messages that were ever posted. */
  get first(): number {
    return this.gone + this.empty;
  }

  get end(): number {
    return this.gone + this.kept.length;
  }

  at(position: number): KeptSend {
    return this.kept[position - this.gone]!;
  }

  add(message: KeptSend): void {
    this.posted.add(message.sequence);
    this.kept.push(message);
    if (message.strand !== null) this.woven++;
  }

  /** False: that was known. */
  acknowledge(replica: number, sequence: number): boolean {
    return this.acknowledged[replica]!.add(sequence);
  }

  /** All numbers before that one. */
  acknowledgeBefore(replica: number, number: number): void {
    this.acknowledged[replica]!.addBefore(number);
  }

  acknowledgedOf(replica: number): ReceivedNumbers {
    return this.acknowledged[replica]!;
  }

  /** What this process's rank has sent in a world, as far as it has been told; see `isSentIn`. */
  sentIn(world: number): ReceivedNumbers {
    return this.sent[world]!;
  }

  /** Is that message known to have been sent in that world? What its replica of the rank holds was, unless it has it from elsewhere. */
  isSentIn(world: number, sequence: number): boolean {
    if (this.sent[world]!.has(sequence)) return true;
    return (this.borrowed & (1 << world)) === 0 && this.acknowledged[world]!.has(sequence);
  }

  /** A replica is made anew: what lives before it have held says nothing, but what its source has it will have. */
  renew(replica: number, source: number): void {
    if ((this.borrowed & (1 << replica)) === 0) this.sent[replica]!.addAll(this.acknowledged[replica]!);
    this.borrowed |= 1 << replica;
    this.acknowledged[replica] = this.acknowledged[source]!.copy();
    this.elsewhere.delete(replica);
    const [bit, sourceBit] = [1 << replica, 1 << source];
    this.forEach((message) => {
      message.has = (message.has & sourceBit) === 0 ? message.has & ~bit : message.has | bit;
    });
  }

  takesElsewhere(replica: number, sequence: number): void {
    const numbers = this.elsewhere.get(replica) ?? new Set();
    this.elsewhere.set(replica, numbers.add(sequence));
  }

  isTakenElsewhere(replica: number, sequence: number): boolean {
    return this.elsewhere.size !== 0 && this.elsewhere.get(replica)?.has(sequence) === true;
  }

  /** It does not any more, or none of them. */
  forgetElsewhere(replica: number, sequence?: number): void {
    if (sequence === undefined) this.elsewhere.delete(replica);
    else this.elsewhere.get(replica)?.delete(sequence);
  }

  /** This process is a clone: of its own life, which is new, receivers know nothing. */
  begin(dead: number, closed: number): void {
    this.dead = dead;
    this.closed = closed;
    this.guarded = 0;
    this.elsewhere.clear();
  }

  /** The numbers of messages that have not been put on their way to that replica. */
  unsentTo(replica: number): Set<number> {
    const unsent = new Set<number>();
    for (let position = Math.max(this.first, this.next[replica]!); position < this.end; position++) {
      const { isOver, has, announced, went, sequence } = this.at(position);
      if (!isOver && ((has | announced | went) & (1 << replica)) === 0) unsent.add(sequence);
    }
    return unsent;
  }

  /** Bits: the replicas that have acknowledged that number. */
  acknowledgedBy(sequence: number): number {
    let bits = 0;
    for (let replica = 0; replica < this.acknowledged.length; replica++) {
      if (this.acknowledged[replica]!.has(sequence)) bits |= 1 << replica;
    }
    return bits;
  }

  /** The message with that number, if it is kept. Numbers mostly follow each other; those of collectives may be posted late. */
  find(sequence: number): KeptSend | null {
    const { kept, empty } = this;
    if (empty === kept.length) return null;
    const ahead = (sequence - kept[empty]!.sequence) | 0;
    // The objects before `empty` are other messages by now.
    const guess = ahead < 0 ? undefined : kept[empty + ahead];
    if (guess !== undefined && guess.sequence === sequence) return guess.isOver ? null : guess;
    for (let i = empty; i < kept.length; i++) {
      const message = kept[i]!;
      if (message.sequence === sequence) return message.isOver ? null : message;
    }
    return null;
  }

  forEach(visit: (message: KeptSend) => void): void {
    // A message that is over may be taken out of the list meanwhile.
    for (const message of this.kept.slice(this.empty)) if (!message.isOver) visit(message);
  }

  /** That message is over. */
  settle(message: KeptSend): void {
    message.isOver = true;
    if (message.strand !== null) this.woven--;
  }

  /** May a message be put on its way before one that was posted earlier and waits? */
  get mayOvertake(): boolean {
    return this.woven !== 0;
  }

  /** All of them are sent to those replicas (bits) that do not have them, from the first on. */
  restart(replicas: number): void {
    for (let replica = 0; replicas >>> replica !== 0; replica++) {
      if ((replicas & (1 << replica)) !== 0) this.next[replica] = this.first;
    }
    for (let position = this.first; position < this.end; position++) this.at(position).went &= ~replicas;
  }

  /** The order of what was seen is asked for from there on. */
  oldest(newest: number): number {
    if (this.first === this.end) return newest;
    // Positions of the program's messages grow.
    const last = this.woven === 0 ? this.first + 1 : this.end;
    let oldest = newest;
    for (let place = this.first; place < last; place++) oldest = Math.min(oldest, this.at(place).position);
    return oldest;
  }

  /** Messages that are over leave the list, oldest first. */
  clean(reuse: (message: KeptSend) => void): void {
    const { kept } = this;
    while (this.empty < kept.length && kept[this.empty]!.isOver) reuse(kept[this.empty++]!);
    // Not whenever all are over: an array that becomes empty with each message is made anew for the next.
    if (this.empty >= emptyMax && 2 * this.empty >= kept.length) {
      kept.splice(0, this.empty);
      this.gone += this.empty;
      this.empty = 0;
    }
  }
}

saves({ SendChannel });
