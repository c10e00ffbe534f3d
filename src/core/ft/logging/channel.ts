/**
 * The relation of a process to one process of another set: the messages that it keeps for that peer, the numbers of those that it has
 * received, and the state of the exchange after one of the two was restarted.
 *
 * After a restart each side tells the other once, for these two lives, which messages it holds (`reconnection.ts`, `frames.ts`). Until a
 * side has heard this from the other it sends nothing: so a message travels at most once between two lives, and never to a side that has
 * it already.
 */
import { saves } from "../../base/saved-classes.ts";
import { ReceivedNumbers } from "../received-numbers.ts";
import type { WaitingMessage } from "../set-split.ts";
import { hashOfMessage, type Kept } from "./kept.ts";

/** The peer has been told nothing. */
const nobody = -1;

export class Channel {
  readonly peer: number;
  /** The peer's life that we speak with. */
  incarnation = 0;
  /** Has the peer told which messages it holds? First lives hold none, and need not say so. */
  isOpen = true;
  /** The life of the peer that was told which messages we hold, and the life of ours that told it. */
  private toldPeer = nobody;
  private toldSelf = nobody;

  // Messages that we send

  /** The payload log, in the order of posting. */
  readonly kept: Kept[] = [];
  /** Payload that was ever put into it. */
  loggedBytes = 0;
  /** Synchronous ones that were taken, and of which we have asked whether that is certain, by number. */
  readonly asked = new Map<number, Kept>();
  /** Where the first is that has not been put on its way to the peer's present life. */
  next = 0;
  /** The peer will never ask for lower numbers again: they are not kept. Their count, and their sum. */
  private trimmedBelow = 0;
  private trimmedCount = 0;
  private trimmedSum = 0;
  /** Messages of ours that the peer held when it told us. */
  private peerHas = new ReceivedNumbers();
  /** Of those, the messages that the peer has without all their bytes. */
  private peerWants = new Set<number>();
  private peerSum = 0;
  /** How many of the messages that the peer held we have posted, in this life or its image: when all are posted, their sums must agree. */
  private knownCount = 0;
  private knownSum = 0;

  // Messages that we receive

  readonly received = new ReceivedNumbers();
  private receivedSum = 0;

  /** The peer is telling us which messages it holds: the part that we have heard so far. */
  private hearing: { has: ReceivedNumbers; wants: Set<number>; sum: number } | null = null;

  constructor(peer: number) {
    this.peer = peer;
  }

  // A peer that was of our own set until the image that both begin with

  /** It has all that we had sent, but for these messages, which are kept next. */
  sentBefore(count: number, waiting: number): void {
    this.trimmedCount = (count - waiting) | 0;
  }

  /** We have all below that number but these; of `waiting` the bytes are missing. */
  receivedBefore(next: number, unsent: readonly number[], waiting: readonly WaitingMessage[]): void {
    this.received.addBefore(next);
    this.received.remove(unsent);
    for (const message of waiting) this.receivedSum = (this.receivedSum + hashOfMessage(...message)) | 0;
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

  /** The peer has told which messages of our life before it had, and this life has posted all of them again. */
  get isRepeated(): boolean {
    return this.isOpen && this.knownCount === this.peerHas.count;
  }

  /** May the peer be sent that message now, if it is kept? */
  mayHave(sequence: number): boolean {
    return this.isOpen && !this.isTrimmed(sequence) && !this.peerHasAll(sequence);
  }

  private isTrimmed(sequence: number): boolean {
    return ((sequence - this.trimmedBelow) | 0) < 0;
  }

  /** False: the peer will never ask for it, and it need not be kept. */
  keep(message: Kept): boolean {
    this.countKnown(message);
    this.checkReplay();
    if (this.isTrimmed(message.sequence)) {
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

  /** The peer will never ask for lower numbers again. Returns the messages that are not kept any more. */
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

  /** The peer is gone, or we are new: no message leaves until the peer has told us which ones it holds. */
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

  /** Must the peer's present life be told which messages we hold, in our life `self`? Once. */
  mustTell(self: number): boolean {
    if (this.toldPeer === this.incarnation && this.toldSelf === self) return false;
    this.toldPeer = this.incarnation;
    this.toldSelf = self;
    return true;
  }

  /** Our words to the peer's present life may not have reached it. */
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

  /** The peer has told everything: messages that it lacks are to be sent again, in order. False: the peer had not begun to tell. */
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
