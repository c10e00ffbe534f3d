/**
 * Messages are compared before the program sees them (ADR 49). Every replica of a sender votes on what it sends; a message is let in when
 * all that live have voted, and counts when more than half agree with it. Messages of a rank that a receive could take for each other are let in in the order in
 * which they have come.
 *
 *   vote-table.ts   votes on messages that are not judged yet
 *   verdict.ts      what they come to
 *   sent-votes.ts   the votes of this process
 *   testimonies.ts  votes that are whole messages (whole-votes.ts), which count when all their bytes are here
 *
 * An envelope is judged before it is let in, bytes when all of them are here: those of small messages before, too, those of large ones in
 * the buffer of their receive. A message that is wrong is one without bytes from then on, as if its sender had died half-way: whoever stands in for its sender
 * sends it again.
 */
import type { Pointer, RecordId, WorldRank } from "../../../base/brand.ts";
import { lives, saves } from "../../../base/saved-classes.ts";
import { Arrival } from "../../../request/decisions.ts";
import {
  R_BYTES,
  R_CONTEXT,
  R_KIND,
  R_MODE,
  R_PEER,
  R_POINTER,
  R_REPLICA,
  R_SEQUENCE,
  R_STATUS_BYTES,
  R_STATUS_TAG,
  R_TAG,
  RecordFlag,
  RecordKind,
} from "../../../request/records.ts";
import { BYTES, CONTEXT, KIND, PacketKind, replicaOf, SEQUENCE, SOURCE, TAG } from "../../../wire/packet.ts";
import type { ProtocolPorts } from "../../protocol.ts";
import type { ReceivedNumbers } from "../../received-numbers.ts";
import { isOfProgram } from "../../send-record/send-log.ts";
import type { Membership } from "../membership.ts";
import { envelopeHash } from "./message-hash.ts";
import { areSame } from "./same-bytes.ts";
import { envelopeShift, HashedMemory, isAbstention } from "./sent-votes.ts";
import { Testimonies } from "./testimonies.ts";
import { judgeVotes, VoteVerdict } from "./verdict.ts";
import { VoteTable } from "./vote-table.ts";
import { isOpening } from "./whole-votes.ts";

/** Of a message whose envelope is wrong, until it comes again: it may have to be taken before any other one. */
const unknownContext = -1;

/** Replicas of a rank have sent different messages. */
export interface Suspicion {
  readonly rank: number;
  /** The one that most others disagree with, in that life; −1: nobody can tell which it is. */
  readonly accused: number;
  readonly life: number;
  /** Those that have voted, and the one whose message it is: lowest first. */
  readonly replicas: readonly number[];
  readonly dest: number;
  /** Of the message, as it has come. */
  readonly sequence: number;
  readonly context: number;
  readonly tag: number;
  readonly bytes: number;
}

/** A message that is being judged. One object for all: nothing is allocated for a message. */
interface Judged {
  sequence: number;
  sender: number;
  context: number;
  tag: number;
  bytes: number;
  envelopeHash: number;
  bytesHash: number;
  /** Are its bytes here, and not only its envelope? */
  hasBytes: boolean;
  /** Then they are there. */
  pointer: Pointer;
}

/** A rank that messages come from. */
class ComparedSender {
  readonly table: VoteTable;
  /** What votes say, where they are whole messages; null: they are hashes, and the table has them. */
  readonly testimonies: Testimonies | null;
  /** Envelopes that are not let in, in the order in which they have come. */
  readonly aside: RecordId[] = [];
  /** Bits: replicas that have been accused. */
  accused = 0;

  constructor(rank: number, replicas: number, isWhole: boolean) {
    this.table = new VoteTable(rank, replicas);
    this.testimonies = isWhole ? new Testimonies() : null;
  }

  /** A message has been judged. */
  close(at: number, sequence: number): void {
    this.table.close(at);
    this.testimonies?.close(sequence);
  }
}

interface ComparisonHost {
  readonly ports: Pick<ProtocolPorts, "records" | "memory" | "letIn" | "spoil" | "tell" | "toldBytes">;
  /** Are messages compared byte by byte? Otherwise by hashes. */
  readonly isWhole: boolean;
  readonly membership: Membership;
  readonly rank: number;
  /** Messages of a rank that have come. */
  readonly numbersOf: (rank: number) => ReceivedNumbers;
  /** All of a message is here, and is right. */
  readonly held: (source: WorldRank, sequence: number) => void;
  readonly suspect: (suspicion: Suspicion) => void;
}

export class MessageComparison {
  static readonly unsaved = { host: null, isDisputed: false };
  private readonly host: ComparisonHost;
  private readonly memory: HashedMemory;
  private readonly senders = new Map<number, ComparedSender>();
  private last: ComparedSender | null = null;
  private readonly judged: Judged = {
    sequence: 0,
    sender: 0,
    context: 0,
    tag: 0,
    bytes: 0,
    envelopeHash: 0,
    bytesHash: 0,
    hasBytes: false,
    pointer: 0 as Pointer,
  };
  /** Messages may have become ready to be let in. */
  private isRestless = false;
  /** Replicas have differed, and nobody can tell who is right: the job is about to stop, or to go back. */
  private isDisputed = false;
  /** Messages that were compared with at least one other replica's, and those that could not be. */
  compared = 0;
  uncompared = 0;

  constructor(host: ComparisonHost) {
    this.host = host;
    this.memory = new HashedMemory(host.ports.memory);
  }

  private senderOf(rank: number): ComparedSender {
    const { last } = this;
    if (last !== null && last.table.rank === rank) return last;
    let sender = this.senders.get(rank);
    if (sender === undefined) {
      sender = new ComparedSender(rank, this.host.membership.replicas, this.host.isWhole);
      this.senders.set(rank, sender);
    }
    this.last = sender;
    return sender;
  }

  /** A vote of a living replica of another rank: three words. */
  hear(rank: number, replica: number, a: number, sequence: number, bytes: number): void {
    const sender = this.senderOf(rank);
    const { table } = sender;
    let at = table.find(sequence);
    if (at < 0) {
      // Judged already: this replica was dead, or excused.
      if (this.host.numbersOf(rank).has(sequence)) return;
      at = table.open(sequence);
    }
    if (isAbstention(a)) table.abstain(at, replica);
    else table.vote(at, replica, a >>> envelopeShift, bytes);
    if (sender.aside.length !== 0) this.settle(sender);
  }

  /** A part of a vote that is a whole message, of a living replica of another rank. It counts when all is here. */
  hearWhole(words: Int32Array, packet: number): void {
    const rank = words[packet + SOURCE]!;
    const sequence = words[packet + TAG]!;
    const sender = this.senderOf(rank);
    const { table, testimonies } = sender;
    if (testimonies === null) return;
    let at = table.find(sequence);
    if (at < 0) {
      // Of a message that has been judged nothing is asked any more.
      if (this.host.numbersOf(rank).has(sequence) || !isOpening(words[packet + CONTEXT]!)) return;
      at = table.open(sequence);
    }
    const replica = replicaOf(words[packet + KIND]!);
    // This process, a clone, may know it from its source.
    if ((table.voted(at) & (1 << replica)) !== 0 || !testimonies.hear(this.host.ports, words, packet)) return;
    table.vote(at, replica, 0, 0);
    if (sender.aside.length !== 0) this.settle(sender);
  }

  // Arrivals

  /** A message of another rank has come for the first time. TAKE: it is let in at once. */
  arrived(words: Int32Array, packet: number): Arrival {
    const rank = words[packet + SOURCE]!;
    const replica = replicaOf(words[packet + KIND]!);
    const sequence = words[packet + SEQUENCE]!;
    const sender = this.senderOf(rank);
    const { table } = sender;
    const at = table.find(sequence);
    const lacking = this.host.membership.livingOf(rank) & ~(1 << replica) & ~(at < 0 ? 0 : table.heard(at));
    if (lacking !== 0) {
      // The last vote has it let in, or the death of those that lack.
      if (at < 0) table.open(sequence);
      return Arrival.LATER;
    }
    const context = words[packet + CONTEXT]!;
    const tag = words[packet + TAG]!;
    if (this.isBehind(sender, context, tag, sender.aside.length)) {
      if (at < 0) table.open(sequence);
      this.isRestless = true;
      return Arrival.LATER;
    }
    if (at < 0) {
      this.uncompared++;
      return Arrival.TAKE;
    }
    const { judged } = this;
    judged.sequence = sequence;
    judged.sender = replica;
    judged.context = context;
    judged.tag = tag;
    judged.bytes = words[packet + BYTES]!;
    judged.hasBytes = false;
    if (this.isRight(sender, at)) return Arrival.TAKE;
    this.isRestless = true;
    return Arrival.LATER;
  }

  /**
   * It comes a second time: whoever sends it need not say more of it. If the first one waits to be judged, and its sender is dead, this one takes its place:
   * should the first be wrong, nobody would send it once more.
   */
  arrivedAgain(rank: number, replica: number, sequence: number): void {
    const sender = this.senderOf(rank);
    const { table } = sender;
    const at = table.find(sequence);
    const { ports, membership } = this.host;
    const first = sender.aside.find((envelope) => ports.records.get(envelope, R_SEQUENCE) === sequence);
    const isLeft = first === undefined || !membership.isAlive(rank, ports.records.get(first, R_REPLICA));
    if (first !== undefined && isLeft && !ports.records.hasFlag(first, RecordFlag.BROKEN)) ports.spoil(first);
    this.isRestless = true;
    // Where all replicas send to all, the rest of what this one says of it comes later than the message.
    const isStillTold = !isLeft && sender.testimonies !== null && sender.testimonies.find(sequence, replica) !== null;
    if (at >= 0 && (table.heard(at) & (1 << replica)) === 0 && !isStillTold) table.abstain(at, replica);
  }

  putAside(envelope: RecordId): void {
    this.senderOf(this.host.ports.records.get(envelope, R_PEER)).aside.push(envelope);
  }

  /** All bytes of a message are here, in the buffer of a receive or in the memory of an envelope: are they right? */
  mayCount(record: RecordId): boolean {
    const { records } = this.host.ports;
    const rank = records.get(record, R_PEER);
    const { last } = this;
    const sender = last !== null && last.table.rank === rank ? last : this.senders.get(rank);
    if (sender === undefined) return true;
    const sequence = records.get(record, R_SEQUENCE);
    const at = sender.table.find(sequence);
    if (at < 0) return true;
    this.read(record);
    // The rest of a message that is too long for its buffer is nowhere.
    if (records.hasFlag(record, RecordFlag.TRUNCATED)) this.uncompared++;
    else {
      this.judged.pointer = records.get(record, R_POINTER) as Pointer;
      if (sender.testimonies === null) this.judged.bytesHash = this.memory.hash(this.judged.pointer, this.judged.bytes);
      this.judged.hasBytes = true;
      const verdict = this.verdictOn(sender, at);
      if (verdict === VoteVerdict.WRONG || verdict === VoteVerdict.UNDECIDED) return false;
      if (verdict === VoteVerdict.ALONE) this.uncompared++;
      else this.compared++;
    }
    sender.close(at, sequence);
    return true;
  }

  private read(record: RecordId): void {
    const { records } = this.host.ports;
    const { judged } = this;
    const isReceive = records.get(record, R_KIND) === RecordKind.RECEIVE;
    judged.sequence = records.get(record, R_SEQUENCE);
    judged.sender = records.get(record, R_REPLICA);
    judged.context = records.get(record, R_CONTEXT);
    judged.tag = records.get(record, isReceive ? R_STATUS_TAG : R_TAG);
    judged.bytes = records.get(record, isReceive ? R_STATUS_BYTES : R_BYTES);
    judged.hasBytes = false;
  }

  // Verdicts

  /** Does every vote agree with it? */
  private isRight(sender: ComparedSender, at: number): boolean {
    const { judged } = this;
    const { table } = sender;
    judged.envelopeHash = envelopeHash(judged.context, judged.tag, judged.bytes);
    if (sender.testimonies === null) return table.isUnanimous(at, judged);
    const others = table.voted(at) & ~(1 << judged.sender);
    for (let replica = 0; others >>> replica !== 0; replica++) {
      if ((others & (1 << replica)) !== 0 && !this.agrees(sender, at, replica)) return false;
    }
    return true;
  }

  private agrees({ table, testimonies }: ComparedSender, at: number, replica: number): boolean {
    const { judged } = this;
    if (testimonies !== null) {
      const testimony = testimonies.find(judged.sequence, replica);
      if (testimony?.hasEnvelope(judged.context, judged.tag, judged.bytes) !== true) return false;
      if (!judged.hasBytes || judged.bytes === 0) return true;
      return areSame(testimony.content, this.host.ports.memory.view(judged.pointer, judged.bytes));
    }
    if (table.envelopeOf(at, replica) !== judged.envelopeHash) return false;
    return !judged.hasBytes || table.bytesOf(at, replica) === judged.bytesHash;
  }

  /** Have two replicas voted for the same? */
  private agree({ table, testimonies }: ComparedSender, at: number, one: number, other: number): boolean {
    const { sequence, hasBytes } = this.judged;
    if (testimonies !== null) {
      const [first, second] = [testimonies.find(sequence, one), testimonies.find(sequence, other)];
      if (first === null || second?.hasEnvelope(first.context, first.tag, first.bytes) !== true) return false;
      return !hasBytes || areSame(first.content, second.content);
    }
    if (table.envelopeOf(at, one) !== table.envelopeOf(at, other)) return false;
    return !hasBytes || table.bytesOf(at, one) === table.bytesOf(at, other);
  }

  private verdictOn(sender: ComparedSender, at: number): VoteVerdict {
    const { table } = sender;
    const { judged } = this;
    const voted = table.voted(at);
    if (this.isRight(sender, at)) return (voted & ~(1 << judged.sender)) === 0 ? VoteVerdict.ALONE : VoteVerdict.RIGHT;
    const { verdict, accused } = judgeVotes(
      {
        voted,
        agrees: (replica) => this.agrees(sender, at, replica),
        agree: (one, other) => this.agree(sender, at, one, other),
      },
      judged.sender,
    );
    const witnesses = voted | (1 << judged.sender);
    if (verdict === VoteVerdict.UNDECIDED) {
      this.isDisputed = true;
      this.suspect(table.rank, -1, witnesses);
    }
    const guilty = accused & ~sender.accused;
    sender.accused |= guilty;
    for (let replica = 0; guilty >>> replica !== 0; replica++) {
      if ((guilty & (1 << replica)) !== 0) this.suspect(table.rank, replica, witnesses);
    }
    return verdict;
  }

  private suspect(rank: number, accused: number, witnesses: number): void {
    const { membership, rank: dest, suspect } = this.host;
    if (accused >= 0 && !membership.isAlive(rank, accused)) return;
    const replicas: number[] = [];
    for (let replica = 0; witnesses >>> replica !== 0; replica++) {
      if ((witnesses & (1 << replica)) !== 0) replicas.push(replica);
    }
    const { sequence, context, tag, bytes } = this.judged;
    const life = accused < 0 ? 0 : membership.lifeOf(rank, accused);
    suspect({ rank, accused, life, replicas, dest, sequence, context, tag, bytes });
  }

  // Messages that wait

  /** Lets in whatever can be, oldest first. True when that was anything. */
  private settle(sender: ComparedSender): boolean {
    const { ports } = this.host;
    const { aside } = sender;
    const before = aside.length;
    if (before === 1) {
      // Most ranks wait for the message that they have been sent last.
      const envelope = aside[0]!;
      if (!this.isReady(sender, envelope)) return false;
      aside.pop();
      ports.letIn(envelope);
      return true;
    }
    for (let at = 0; at < aside.length; ) {
      const envelope = aside[at]!;
      const context = ports.records.get(envelope, R_CONTEXT);
      const isBehind = this.isBehind(sender, context, ports.records.get(envelope, R_TAG), at);
      if (isBehind || !this.isReady(sender, envelope)) at++;
      else {
        aside.splice(at, 1);
        ports.letIn(envelope);
      }
    }
    return aside.length !== before;
  }

  /**
   * Is a message among the first so many that wait which a receive could take instead? Those of collectives are received by their tags, one for each
   * collective, and collectives that go on by themselves post their messages in another order in another replica: they do not wait for each other.
   */
  private isBehind({ aside }: ComparedSender, context: number, tag: number, count: number): boolean {
    const { records } = this.host.ports;
    const isAnyTag = isOfProgram(context);
    for (let at = 0; at < count; at++) {
      const other = records.get(aside[at]!, R_CONTEXT);
      if (other === unknownContext) return true;
      if (other === context && (isAnyTag || records.get(aside[at]!, R_TAG) === tag)) return true;
    }
    return false;
  }

  private isReady(sender: ComparedSender, envelope: RecordId): boolean {
    const { ports, membership, held } = this.host;
    const { records } = ports;
    const { table } = sender;
    if (records.hasFlag(envelope, RecordFlag.BROKEN)) return false;
    const sequence = records.get(envelope, R_SEQUENCE);
    const at = table.find(sequence);
    // Judged when its bytes came again.
    if (at < 0) return true;
    const others = membership.livingOf(table.rank) & ~(1 << records.get(envelope, R_REPLICA));
    if ((others & ~table.heard(at)) !== 0) return false;
    if (records.get(envelope, R_MODE) === PacketKind.EAGER) {
      if (this.mayCount(envelope)) {
        held(table.rank as WorldRank, sequence);
        return true;
      }
    } else {
      this.read(envelope);
      const verdict = this.verdictOn(sender, at);
      if (verdict === VoteVerdict.ALONE || verdict === VoteVerdict.RIGHT) return true;
    }
    if (!this.isAddressRight(sender, at)) records.put(envelope, R_CONTEXT, unknownContext);
    ports.spoil(envelope);
    return false;
  }

  /** The message that was judged is wrong: are only its bytes? */
  private isAddressRight(sender: ComparedSender, at: number): boolean {
    this.judged.hasBytes = false;
    return this.isRight(sender, at);
  }

  /** True when anything has moved. */
  progress(): boolean {
    if (!this.isRestless) return false;
    this.isRestless = false;
    let moved = false;
    for (const sender of this.senders.values()) if (sender.aside.length !== 0 && this.settle(sender)) moved = true;
    return moved;
  }

  // Deaths and clones

  /** A replica of that rank will not vote any more. */
  died(rank: number): void {
    const sender = this.senders.get(rank);
    if (sender !== undefined) this.settle(sender);
  }

  /** A replica of a rank is back, as a clone: of what has come before it need not speak, and what its life before has said is not its own. */
  returned(rank: number, replica: number): void {
    const sender = this.senders.get(rank);
    if (sender === undefined) return;
    sender.accused &= ~(1 << replica);
    sender.testimonies?.forget(replica);
    const numbers = this.host.numbersOf(rank);
    sender.table.excuse(replica, (sequence) => numbers.has(sequence));
  }

  /** Does a replica live that has been found to be wrong? No image is taken then: it would have thrown the message away, and accuse nobody again. */
  get isAccusing(): boolean {
    if (this.isDisputed) return true;
    for (const { accused, table } of this.senders.values()) {
      if ((accused & this.host.membership.livingOf(table.rank)) !== 0) return true;
    }
    return false;
  }

  /** The numbers of messages of a rank that have come, and are not let in. */
  asideFrom(rank: number): number[] {
    const { records } = this.host.ports;
    return (this.senders.get(rank)?.aside ?? []).map((envelope) => records.get(envelope, R_SEQUENCE));
  }

  /** This process is a clone. */
  begin(): void {
    this.isRestless = true;
  }
}

saves({ ComparedSender });
lives({ MessageComparison });
