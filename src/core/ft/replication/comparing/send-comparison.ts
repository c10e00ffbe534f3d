/**
 * Do the replicas of this process's rank send what it sends? Every message is summed up in a word (its envelope, and its bytes or a sample of
 * a large one). The words of messages that follow each other in a channel are added up, and the sum is told to the other
 * replicas: of the first message of a channel, then of 1, 2, 4 … messages, and of 64 from then on. So few words are said, and programs
 * that send little are compared all the same.
 *
 * A replica whose sum is another one says the words of its messages one by one; whoever hears them finds the first that
 * differs and reports it. Replicas whose messages differ are not the same program any more: what one acknowledges says nothing
 * of what the other lacks, so they do not wait for each other at the end (`hasDiverged`).
 *
 * It is a warning, not a proof: replicas that are further apart than `SentTerms` remembers are not compared, nor is the end of a
 * run that nobody comes to tell.
 */
import type { Pointer, RecordId } from "../../../base/brand.ts";
import type { ProcessName } from "../../../base/identity.ts";
import { lives, saves } from "../../../base/saved-classes.ts";
import { R_BYTES, R_CONTEXT, R_PEER, R_POINTER, R_SEQUENCE, R_TAG, recordWords } from "../../../request/records.ts";
import type { ProtocolPorts } from "../../protocol.ts";
import { messageTerm, payloadHash, sampled } from "../../send-record/send-hash.ts";
import { runMessagesMax, type SentMessage, SentTerms, type TermRun } from "./sent-terms.ts";

/** The first word of packets: the kind in the low bits, a count of messages, and the rank that they are for. */
const ComparisonPacket = {
  /** The first number of a run, and its sum. */
  RUN: 4,
  /** A number, and the word of that message. */
  TERM: 5,
} as const;
const kindMask = 0xf;
const countShift = 4;
const countMask = 0x7f;
const destShift = 11;

export const isComparison = (first: number): boolean =>
  (first & kindMask) === ComparisonPacket.RUN || (first & kindMask) === ComparisonPacket.TERM;

/** Two replicas of a rank have sent different messages under one number. */
export interface SendDivergence {
  readonly rank: number;
  /** The lower one first. */
  readonly replicas: readonly [number, number];
  readonly dest: number;
  /** As the reporting process has sent it. `isExact`: it is this one; otherwise this one or one of the next. */
  readonly message: SentMessage;
  readonly isExact: boolean;
}

/** A run that another replica has told, and that this process has not sent yet. */
class ToldRun implements TermRun {
  readonly replica: number;
  readonly first: number;
  readonly count: number;
  readonly sum: number;

  constructor(replica: number, { first, count, sum }: TermRun) {
    this.replica = replica;
    this.first = first;
    this.count = count;
    this.sum = sum;
  }
}

/** A channel remembers no more runs of others. */
const toldMax = 32;

/** One rank that messages go to. */
class ComparedChannel {
  readonly terms: SentTerms;
  readonly told: ToldRun[] = [];

  constructor(dest: number, first: number) {
    this.terms = new SentTerms(dest, first);
  }
}

interface ComparisonHost {
  readonly ports: ProtocolPorts;
  readonly place: ProcessName;
  /** Bits: the living replicas of the rank. */
  living(): number;
  /** Called once at most. */
  diverged(divergence: SendDivergence): void;
}

export class SendComparison {
  static readonly unsaved = { host: null };
  private readonly host: ComparisonHost;
  private readonly channels = new Map<number, ComparedChannel>();
  private last: ComparedChannel | null = null;
  /** The message that is being added: nothing is allocated for a message. */
  private readonly sending = { sequence: 0, context: 0, tag: 0, bytes: 0 };
  /** Has another replica been told the words of single messages? */
  private hasExplained = false;
  private hasReported = false;
  /** Runs that were compared. */
  compared = 0;

  constructor(host: ComparisonHost) {
    this.host = host;
  }

  get hasDiverged(): boolean {
    return this.hasExplained || this.hasReported;
  }

  /** A message to another rank is about to be sent. */
  add(send: RecordId): void {
    const { ports, place, living } = this.host;
    if (living() === 1 << place.replica || this.hasReported) return;
    const { words } = ports.records;
    const at = send * recordWords;
    const sequence = words[at + R_SEQUENCE]!;
    const context = words[at + R_CONTEXT]!;
    const tag = words[at + R_TAG]!;
    const bytes = words[at + R_BYTES]!;
    const hash = this.hashOf(words[at + R_POINTER]!, bytes);
    const channel = this.channelTo(words[at + R_PEER]!, sequence);
    const { sending } = this;
    sending.sequence = sequence;
    sending.context = context;
    sending.tag = tag;
    sending.bytes = bytes;
    if (channel.terms.add(sending, messageTerm(sequence, context, tag, bytes, hash))) this.tellRun(channel.terms);
    if (channel.told.length !== 0) this.compareTold(channel);
  }

  private hashOf(pointer: number, bytes: number): number {
    if (bytes === 0) return 0;
    const { memory } = this.host.ports;
    // Of memory that the program has lent there is a view; all other is a part of one array.
    if (pointer >= 0) return payloadHash(memory.bytes, pointer, bytes, sampled);
    return payloadHash(memory.view(pointer as Pointer, bytes), 0, bytes, sampled);
  }

  private channelTo(dest: number, first: number): ComparedChannel {
    const { last } = this;
    if (last !== null && last.terms.dest === dest) return last;
    let channel = this.channels.get(dest);
    if (channel === undefined) {
      channel = new ComparedChannel(dest, first);
      this.channels.set(dest, channel);
    }
    this.last = channel;
    return channel;
  }

  // Words

  /** The process has nothing to do: runs that are short are told as well. */
  tellAll(): void {
    for (const { terms } of this.channels.values()) if (terms.hasRun) this.tellRun(terms);
  }

  private tellRun(terms: SentTerms): void {
    const { first, count, sum } = terms.takeRun();
    const a = ComparisonPacket.RUN | (count << countShift) | (terms.dest << destShift);
    const { place, living } = this.host;
    const others = living() & ~(1 << place.replica);
    for (let replica = 0; others >>> replica !== 0; replica++) {
      if ((others & (1 << replica)) !== 0) this.say(replica, a, first, sum);
    }
  }

  private say(replica: number, a: number, b: number, c: number): void {
    this.host.ports.tell({ rank: this.host.place.rank, replica }, { a, b, c });
  }

  /** A packet of another replica of the rank, its three words. */
  hear(replica: number, a: number, first: number, value: number): void {
    if (this.hasReported) return;
    const count = (a >>> countShift) & countMask;
    const channel = this.channelTo(a >>> destShift, first);
    if ((a & kindMask) === ComparisonPacket.TERM) this.hearTerm(replica, channel, first, value);
    else if (count >= 1 && count <= runMessagesMax) this.hearRun(channel, replica, { first, count, sum: value });
  }

  private hearRun(channel: ComparedChannel, replica: number, run: TermRun): void {
    // Runs of others may be of messages that this process has yet to send.
    if (((run.first + run.count - channel.terms.next) | 0) > 0) {
      if (channel.told.length === toldMax) channel.told.shift();
      channel.told.push(new ToldRun(replica, run));
    } else this.compare(channel, replica, run);
  }

  private compareTold(channel: ComparedChannel): void {
    const { told, terms } = channel;
    for (let i = 0; i < told.length; ) {
      const run = told[i]!;
      if (((run.first + run.count - terms.next) | 0) > 0) i++;
      else {
        told.splice(i, 1);
        this.compare(channel, run.replica, run);
      }
    }
  }

  private compare({ terms }: ComparedChannel, replica: number, run: TermRun): void {
    const own = terms.sumOf(run);
    if (own === null) return;
    this.compared++;
    if (own !== run.sum) this.explain(terms, replica, run);
  }

  /** Once: others know then. */
  private explain(terms: SentTerms, replica: number, { first, count }: TermRun): void {
    if (this.hasExplained) return;
    this.hasExplained = true;
    for (let i = 0; i < count; i++) {
      const sequence = (first + i) | 0;
      const a = ComparisonPacket.TERM | (1 << countShift) | (terms.dest << destShift);
      this.say(replica, a, sequence, terms.termOf(sequence));
    }
  }

  private hearTerm(replica: number, { terms }: ComparedChannel, sequence: number, term: number): void {
    const isExact = terms.has(sequence);
    if (isExact && terms.termOf(sequence) === term) return;
    const { place, diverged } = this.host;
    const message = isExact ? terms.message(sequence) : { sequence, context: 0, tag: 0, bytes: 0 };
    this.hasReported = true;
    const replicas = [Math.min(replica, place.replica), Math.max(replica, place.replica)] as const;
    diverged({ rank: place.rank, replicas, dest: terms.dest, message, isExact });
  }
}

saves({ ToldRun, ComparedChannel });
lives({ SendComparison });
