/**
 * Votes of the replicas of one rank on its messages to this process: what each says that it has sent. A message has a place from its first
 * vote, or from its arrival, until it has been judged. Places are found by number; the table doubles when two messages that are open want one.
 */
import { saves } from "../../../base/saved-classes.ts";

const placesMin = 16;

const V_SEQUENCE = 0;
/** 0: the place is free. */
const V_IS_OPEN = 1;
/** Bits: the replicas that have voted, and those that have nothing to say. */
const V_VOTED = 2;
const V_ABSTAINED = 3;
/** By replica: hash of the envelope, hash of the bytes. */
const V_VOTES = 4;

/** A message, as votes tell of it. */
interface VotedMessage {
  readonly sender: number;
  readonly envelopeHash: number;
  readonly bytesHash: number;
  /** Are its bytes here, and not only its envelope? */
  readonly hasBytes: boolean;
}

export class VoteTable {
  readonly rank: number;
  private readonly placeWords: number;
  private words: Int32Array;
  /** Open places. */
  count = 0;

  constructor(rank: number, replicas: number) {
    this.rank = rank;
    this.placeWords = V_VOTES + 2 * replicas;
    this.words = new Int32Array(placesMin * this.placeWords);
  }

  private get places(): number {
    return this.words.length / this.placeWords;
  }

  /** Where the place of a message is; −1: it has none. */
  find(sequence: number): number {
    const { words, placeWords } = this;
    const at = (sequence & (words.length / placeWords - 1)) * placeWords;
    return words[at + V_IS_OPEN] !== 0 && words[at + V_SEQUENCE] === sequence ? at : -1;
  }

  /** The same, and there is one now. Until the next call of `open` it stays where it is. */
  open(sequence: number): number {
    for (;;) {
      const { words, placeWords } = this;
      const at = (sequence & (words.length / placeWords - 1)) * placeWords;
      if (words[at + V_IS_OPEN] === 0) {
        // Votes are written before they are read.
        words[at + V_VOTED] = 0;
        words[at + V_ABSTAINED] = 0;
        words[at + V_SEQUENCE] = sequence;
        words[at + V_IS_OPEN] = 1;
        this.count++;
        return at;
      }
      if (words[at + V_SEQUENCE] === sequence) return at;
      this.grow();
    }
  }

  private grow(): void {
    const { words: before, placeWords } = this;
    this.words = new Int32Array(2 * before.length);
    for (let at = 0; at < before.length; at += placeWords) {
      if (before[at + V_IS_OPEN] === 0) continue;
      const to = (before[at + V_SEQUENCE]! & (this.places - 1)) * placeWords;
      this.words.set(before.subarray(at, at + placeWords), to);
    }
  }

  close(at: number): void {
    this.words[at + V_IS_OPEN] = 0;
    this.count--;
  }

  vote(at: number, replica: number, envelope: number, bytes: number): void {
    const { words } = this;
    words[at + V_VOTED] = words[at + V_VOTED]! | (1 << replica);
    words[at + V_VOTES + 2 * replica] = envelope;
    words[at + V_VOTES + 2 * replica + 1] = bytes;
  }

  abstain(at: number, replica: number): void {
    this.words[at + V_ABSTAINED] = this.words[at + V_ABSTAINED]! | (1 << replica);
  }

  /** A replica has not voted on the messages that are open, and need not vote on some of them. */
  excuse(replica: number, isExcused: (sequence: number) => boolean): void {
    const { words } = this;
    for (let at = 0; at < words.length; at += this.placeWords) {
      if (words[at + V_IS_OPEN] === 0) continue;
      words[at + V_VOTED] = words[at + V_VOTED]! & ~(1 << replica);
      words[at + V_ABSTAINED] = words[at + V_ABSTAINED]! & ~(1 << replica);
      if (isExcused(words[at + V_SEQUENCE]!)) this.abstain(at, replica);
    }
  }

  voted(at: number): number {
    return this.words[at + V_VOTED]!;
  }

  /** Bits: those that have voted, or have nothing to say. */
  heard(at: number): number {
    return this.words[at + V_VOTED]! | this.words[at + V_ABSTAINED]!;
  }

  /** Does every vote but the sender's own agree with a message? */
  isUnanimous(at: number, { sender, envelopeHash, bytesHash, hasBytes }: VotedMessage): boolean {
    const { words } = this;
    let others = words[at + V_VOTED]! & ~(1 << sender);
    for (let vote = at + V_VOTES; others !== 0; vote += 2, others >>>= 1) {
      if ((others & 1) === 0) continue;
      if (words[vote] !== envelopeHash || (hasBytes && words[vote + 1] !== bytesHash)) return false;
    }
    return true;
  }

  envelopeOf(at: number, replica: number): number {
    return this.words[at + V_VOTES + 2 * replica]!;
  }

  bytesOf(at: number, replica: number): number {
    return this.words[at + V_VOTES + 2 * replica + 1]!;
  }
}

saves({ VoteTable });
