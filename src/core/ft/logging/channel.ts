/**
 * What a process has to do with one process of another set: what it keeps of what it sent, what it has received, and how far
 * the two have come in telling each other after one of them was restarted.
 *
 * After a restart each side tells the other once, for these two lives, what it holds (`reconnection.ts`, `frames.ts`). Until it has heard that, a side sends nothing: so a message travels at most once between two lives,
 * and never one that the other side has.
 */
import { saves } from "../../base/saved-classes.ts";
import { ReceivedNumbers } from "../received-numbers.ts";
import { hashOfMessage, type Kept } from "./kept.ts";

/** The peer has been told nothing. */
const nobody = -1;

export class Channel {
  readonly peer: number;
  /** The peer's life that we speak with. */
  incarnation = 0;
  /** Has it told what it holds? First lives hold nothing, and need not say so. */
  isOpen = true;
  /** Which life of the peer, in which life of ours, was told what we hold. */
  private toldPeer = nobody;
  private toldSelf = nobody;

  // What we send

  /** The payload log, in the order of posting. */
  readonly kept: Kept[] = [];
  /** Payload that was ever put into it. */
  loggedBytes = 0;
  /** Synchronous ones that were taken, and of which we have asked whether that is certain, by number. */
  readonly asked = new Map<number, Kept>();
  /** Where the first is that has not been put on its way to the peer's present life. */
  next = 0;
  /** The peer will never ask for lower numbers again: they are not kept. How many there were, and what they add up to. */
  private trimmedBelow = 0;
  private trimmedCount = 0;
  private trimmedSum = 0;
  /** What the peer held when it told us: sends of ours that it has already. */
  private peerHas = new ReceivedNumbers();
  /** Of those, the ones that it has without all their bytes. */
  private peerWants = new Set<number>();
  private peerSum = 0;
  /** Of what the peer had, how much we have posted in this life or its image: when that is all, it must be the same. */
  private knownCount = 0;
  private knownSum = 0;

  // What we receive

  readonly received = new ReceivedNumbers();
  private receivedSum = 0;

  /** The peer is telling us: what we have heard so far. */
  private hearing: { has: ReceivedNumbers; wants: Set<number>; sum: number } | null = null;

  constructor(peer: number) {
    this.peer = peer;
  }

  // Receiving

  /** False: it was here before. */
  receive(sequence: number, context: number, tag: number, bytes: number): boolean {
    if (!this.received.add(sequence)) return false;
    this.receivedSum = (this.receivedSum + hashOfMessage(sequence, context, tag, bytes)) | 0;
    return true;
  }

  get sum(): number {
    return this.receivedSum;
  }

  // Sending

  get isPending(): boolean {
    return this.next < this.kept.length;
  }

  /** The peer has told what it had of our life before, and this one has posted all of it again. */
  get isRepeated(): boolean {
    return this.isOpen && this.knownCount === this.peerHas.count;
  }

  /** False: the peer will never ask for it, and it need not be kept. */
  keep(message: Kept): boolean {
    this.countKnown(message);
    this.checkReplay();
    if (((message.sequence - this.trimmedBelow) | 0) < 0) {
      this.countTrimmed(message);
      return false;
    }
    message.isDelivered = this.peerHasAll(message.sequence);
    this.kept.push(message);
    return true;
  }

  private peerHasAll(sequence: number): boolean {
    return this.peerHas.has(sequence) && !this.peerWants.has(sequence);
  }

  private countKnown(message: Kept): void {
    if (!this.peerHas.has(message.sequence)) return;
    this.knownCount = (this.knownCount + 1) | 0;
    this.knownSum = (this.knownSum + hashOf(message)) | 0;
  }

  private countTrimmed(message: Kept): void {
    this.trimmedCount = (this.trimmedCount + 1) | 0;
    this.trimmedSum = (this.trimmedSum + hashOf(message)) | 0;
  }

  /** Below that number the peer will never ask again. Gives back what is not kept any more. */
  trim(below: number): Kept[] {
    if (((below - this.trimmedBelow) | 0) <= 0) return [];
    this.trimmedBelow = below;
    const gone: Kept[] = [];
    let left = 0;
    let next = 0;
    for (const [i, message] of this.kept.entries()) {
      if (((message.sequence - below) | 0) < 0) {
        gone.push(message);
        this.countTrimmed(message);
      } else {
        this.kept[left++] = message;
        if (i < this.next) next = left;
      }
    }
    this.kept.length = left;
    this.next = next;
    return gone;
  }

  // After a restart of one of us

  /** The peer is gone, or we are new: nothing leaves until it has told us what it holds. */
  close(incarnation: number): void {
    this.incarnation = incarnation;
    this.isOpen = false;
    this.hearing = null;
    this.asked.clear();
    this.peerHas = new ReceivedNumbers();
    this.peerWants = new Set();
    this.peerSum = 0;
    this.knownCount = 0;
    this.knownSum = 0;
  }

  /** Must the peer's present life be told what we hold, in our life `self`? Once. */
  mustTell(self: number): boolean {
    if (this.toldPeer === this.incarnation && this.toldSelf === self) return false;
    this.toldPeer = this.incarnation;
    this.toldSelf = self;
    return true;
  }

  /** What the peer's present life was told may not have reached it. */
  tellAgain(): void {
    this.toldPeer = nobody;
  }

  hearBegin(): void {
    this.hearing = { has: new ReceivedNumbers(), wants: new Set(), sum: 0 };
  }

  hearHeld(sequence: number): void {
    this.hearing?.has.later.add(sequence);
  }

  hearBroken(sequence: number): void {
    this.hearing?.wants.add(sequence);
  }

  hearSum(sum: number): void {
    if (this.hearing !== null) this.hearing.sum = sum;
  }

  /** The peer has told everything: what it lacks is to be sent again, in order. False: it had not begun. */
  hearEnd(firstMissing: number): boolean {
    const { hearing } = this;
    if (hearing === null) return false;
    hearing.has.firstMissing = firstMissing;
    this.hearing = null;
    this.peerHas = hearing.has;
    this.peerWants = hearing.wants;
    this.peerSum = hearing.sum;
    this.isOpen = true;
    this.next = 0;
    this.knownCount = this.trimmedCount;
    this.knownSum = this.trimmedSum;
    for (const message of this.kept) {
      message.isDelivered = this.peerHasAll(message.sequence);
      this.countKnown(message);
    }
    this.checkReplay();
    return true;
  }

  /** A program that sends something else in replay is one that message logging cannot replay. */
  private checkReplay(): void {
    if (this.knownCount !== this.peerHas.count || this.knownSum === this.peerSum) return;
    throw new Error(
      `Cannot replay: the messages to rank ${this.peer} are not those that it has from the life before; ` +
        "the program does something that message logging does not see",
    );
  }
}

const hashOf = ({ sequence, context, tag, bytes }: Kept): number => hashOfMessage(sequence, context, tag, bytes);

saves({ Channel });
