/**
 * Messages from the home memory on their way into the engine. The process sends each of them to itself, on behalf of its sender: so the
 * engine matches, stores and completes as it always does, and answers about the message come back here.
 *
 * A message that comes with its bytes travels eagerly if there is room. Of any other the envelope alone goes to the engine, and when a receive
 * has matched it, its bytes are asked for: the home has them as long as a life may need them. So the memory of the process is bounded by
 * what it has matched.
 */
import { assert } from "../../../base/assert.ts";
import type { Pointer, RecordId } from "../../../base/brand.ts";
import { lives } from "../../../base/saved-classes.ts";
import { Arrival, type KeptMessage, unordered, Went } from "../../../request/decisions.ts";
import { R_POINTER, R_PROTOCOL } from "../../../request/records.ts";
import { SEQUENCE, SOURCE } from "../../../wire/packet.ts";
import type { KeptPayload, ProtocolPorts } from "../../protocol.ts";
import {
  bytesBehind,
  copyFewBytes,
  fewBytes,
  frameHeadWords,
  keyOfMessage,
  messageFrameFacts,
  noEntry,
  pieceFrameFacts,
  ToMemory,
} from "../frames.ts";
import type { PostBox } from "./post-box.ts";

/** An envelope that the engine has, and whose bytes are with the home. Plain data: an image holds it. */
interface Announced extends KeptPayload {
  readonly source: number;
  readonly sequence: number;
  readonly isSynchronous: boolean;
  /** Is there memory for its bytes, because they are wanted? */
  isWanted: boolean;
  /** Bytes that have come. */
  have: number;
}

interface DeliveriesParts {
  readonly home: PostBox;
  /** The receiver has taken that synchronous message. */
  taken(source: number, sequence: number): void;
}

const nowhere = 0 as Pointer;

export class Deliveries {
  static readonly unsaved = { parts: null, placed: null, incarnations: null };
  private readonly ports: ProtocolPorts;
  private readonly parts: DeliveriesParts;
  /** The entry that comes next. */
  private next = 0;
  /** Entries on their way to the engine: sent and not arrived. `noEntry`: one that has arrived before, without all its bytes. */
  private underWay: number[] = [];
  /** The latter, by `keyOfMessage`. */
  private readonly again = new Set<number>();
  /** By the number that the engine's records name them by. */
  private readonly announced = new Map<number, Announced>();
  private keepers = 0;
  /** Senders whose answers come here. */
  private readonly placed = new Set<number>();
  /** Of all ranks, as the engine knows them. */
  private incarnations: readonly number[] | null = null;

  constructor(ports: ProtocolPorts, parts: DeliveriesParts) {
    this.ports = ports;
    this.parts = parts;
  }

  // Lives

  /** The first entry that the engine has not. */
  get position(): number {
    return this.underWay.find((entry) => entry !== noEntry) ?? this.next;
  }

  /** Another life begins: what was under way in the image's is sent again. Returns senders and numbers of messages that are here without all bytes. */
  beginLife(incarnations: readonly number[]): number[] {
    const { ports } = this;
    this.incarnations = incarnations;
    this.next = this.position;
    this.underWay = [];
    this.again.clear();
    for (const announced of this.announced.values()) this.release(announced);
    this.announced.clear();
    const broken: number[] = [];
    for (let rank = 0; rank < ports.ranks; rank++) {
      const name = { rank, replica: 0 };
      ports.peerLost(name, incarnations[rank] ?? 0);
      ports.peerBack(name);
    }
    for (let rank = 0; rank < ports.ranks; rank++) {
      for (const sequence of ports.brokenFrom(rank)) broken.push(rank, sequence);
    }
    return broken;
  }

  /** Another process of the home memory has taken the place of the one before: what was asked of that one. */
  askAgain(): void {
    for (const [keeper, announced] of this.announced) if (announced.isWanted) this.ask(keeper, announced);
  }

  /** Senders and numbers of messages that are here without all bytes. */
  get incomplete(): number[] {
    const pairs: number[] = [];
    for (let rank = 0; rank < this.ports.ranks; rank++) {
      for (const sequence of this.ports.incompleteFrom(rank)) pairs.push(rank, sequence);
    }
    return pairs;
  }

  get kept(): KeptPayload[] {
    return [...this.announced.values()].filter(({ isWanted, bytes }) => isWanted && bytes > 0);
  }

  // Words of the home

  /** An entry that is no message. False: it was here before. */
  passEntry(entry: number): boolean {
    if (entry < this.next) return false;
    assert(entry === this.next, `entry ${entry} comes, and ${this.next} is missing`);
    this.next++;
    return true;
  }

  /** A frame of MESSAGE. False: there is no room for it in the engine's channel now. */
  deliver(frame: Int32Array): boolean {
    // Not by a pattern: before it is optimised, such code walks through an iterator.
    const entry = frame[2]!;
    const source = frame[3]!;
    const sequence = frame[4]!;
    const bytes = frame[7]!;
    const isAgain = entry === noEntry;
    if (isAgain ? !this.mayComeAgain(source, sequence) : entry < this.next) return true;
    assert(isAgain || entry === this.next, "entries come in their order");
    const message = {
      dest: this.ports.rank,
      replica: 0,
      from: this.identityOf(source),
      context: frame[5]!,
      tag: frame[6]!,
      bytes,
      sequence,
      isSynchronous: frame[8] === 1,
      pointer: nowhere,
      isLent: false,
    };
    const hasBytes = frame.length > frameHeadWords + messageFrameFacts || bytes === 0;
    const went = hasBytes && this.ports.isEager(message) ? this.sendWhole(message, frame) : this.announce(message);
    if (!went) return false;
    this.underWay.push(entry);
    if (isAgain) this.again.add(keyOfMessage(source, sequence));
    else this.next++;
    return true;
  }

  /** Is that message here without all its bytes, and not on its way already? A home memory that was lost may be told twice that it is. */
  private mayComeAgain(source: number, sequence: number): boolean {
    return this.ports.isBroken(source, sequence) && !this.again.has(keyOfMessage(source, sequence));
  }

  private identityOf(source: number): { rank: number; replica: number; incarnation: number } | null {
    const { rank } = this.ports;
    if (source === rank) return null;
    if (!this.placed.has(source)) {
      this.placed.add(source);
      this.ports.place({ rank: source, replica: 0 }, rank);
    }
    return { rank: source, replica: 0, incarnation: this.incarnations?.[source] ?? 0 };
  }

  private sendWhole(message: Omit<KeptMessage, "pointer"> & { pointer: Pointer }, frame: Int32Array): boolean {
    const { memory } = this.ports;
    if (message.bytes === 0) return this.ports.transmit(message, 0) === Went.WHOLE;
    // Not lent: a program in C has no memory but its own.
    const pointer = memory.allocate(message.bytes);
    if (message.bytes <= fewBytes)
      copyFewBytes(frame, frameHeadWords + messageFrameFacts, memory.bytes, pointer, message.bytes);
    else memory.view(pointer, message.bytes).set(bytesBehind(frame, messageFrameFacts, message.bytes));
    message.pointer = pointer;
    const went = this.ports.transmit(message, 0);
    memory.free(pointer);
    return went === Went.WHOLE;
  }

  private announce(message: Parameters<ProtocolPorts["transmit"]>[0]): boolean {
    const keeper = this.keepers;
    // Its bytes are not here: an envelope must go alone, as that of a synchronous message does.
    if (this.ports.transmit({ ...message, isSynchronous: true }, keeper) === Went.NOWHERE) return false;
    const { source, sequence, bytes, isSynchronous } = { source: message.from?.rank ?? this.ports.rank, ...message };
    this.announced.set(keeper, { source, sequence, bytes, isSynchronous, pointer: nowhere, isWanted: false, have: 0 });
    this.keepers = (keeper + 1) | 0;
    return true;
  }

  /** A frame of PIECE. */
  takePiece(frame: Int32Array): void {
    const [, , ticket, offset, bytes] = frame as unknown as readonly number[];
    this.placeOf(ticket!, offset!, bytes!)?.set(bytesBehind(frame, pieceFrameFacts, bytes!));
    this.pieceCame(ticket!, offset!, bytes!);
  }

  /** Where bytes of a PIECE go; null: they were asked for twice, because the home memory had been lost. */
  placeOf(ticket: number, offset: number, bytes: number): Uint8Array | null {
    const announced = this.announced.get(ticket);
    if (announced === undefined || announced.have !== offset) return null;
    return this.ports.memory.view(announced.pointer, announced.bytes).subarray(offset, offset + bytes);
  }

  /** All bytes of a PIECE are where they go. */
  pieceCame(ticket: number, offset: number, bytes: number): void {
    const announced = this.announced.get(ticket);
    if (announced?.have === offset) announced.have += bytes;
  }

  // Questions of the engine

  /** As `Protocol.arrived`. */
  arrived(words: Int32Array, packet: number): Arrival {
    const sequence = words[packet + SEQUENCE]!;
    if (sequence === unordered) return Arrival.TAKE;
    if (this.underWay.shift() !== noEntry) return Arrival.TAKE;
    this.again.delete(keyOfMessage(words[packet + SOURCE]!, sequence));
    return Arrival.AGAIN;
  }

  /** As `Protocol.lend`. */
  lend(send: RecordId): boolean {
    const { records, memory } = this.ports;
    const keeper = records.get(send, R_PROTOCOL);
    const announced = this.announced.get(keeper)!;
    if (!announced.isWanted) {
      announced.pointer = memory.allocate(announced.bytes);
      announced.isWanted = true;
      this.ask(keeper, announced);
    }
    if (announced.have < announced.bytes) return false;
    records.put(send, R_POINTER, announced.pointer);
    return true;
  }

  private ask(keeper: number, { source, sequence, have }: Announced): void {
    this.parts.home.addFirst([ToMemory.WANT, source, sequence, keeper, have]);
  }

  /** A receive has all of a message that was announced. */
  delivered(send: RecordId): void {
    const keeper = this.ports.records.get(send, R_PROTOCOL);
    const announced = this.announced.get(keeper);
    if (announced === undefined) return;
    this.announced.delete(keeper);
    this.release(announced);
    if (announced.isSynchronous) this.parts.taken(announced.source, announced.sequence);
  }

  private release({ isWanted, pointer }: Announced): void {
    if (isWanted) this.ports.memory.free(pointer);
  }
}

lives({ Deliveries });
