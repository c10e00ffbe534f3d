/**
 * The sender's side of message logging: messages to other sets are copied into the payload log, leave when every choice that they may
 * depend on is stable, and are kept until the oldest image of their receiver has them.
 */
import type { Pointer, RecordId } from "../../base/brand.ts";
import { lives } from "../../base/saved-classes.ts";
import { Went } from "../../request/decisions.ts";
import {
  R_BYTES,
  R_CONTEXT,
  R_MODE,
  R_POINTER,
  R_PROTOCOL,
  R_SEQUENCE,
  R_TAG,
  recordWords,
  SendMode,
} from "../../request/records.ts";
import type { DeterminantLog } from "../determinants/determinant-log.ts";
import type { ProtocolPorts } from "../protocol.ts";
import type { Channel } from "./channel.ts";
import type { Channels } from "./channels.ts";
import type { Confirmations } from "./confirmations.ts";
import { Kept, Lent, noRequest } from "./kept.ts";
import type { PayloadMemory } from "./payload-memory.ts";

interface SenderLogParts {
  readonly channels: Channels;
  readonly log: DeterminantLog;
  readonly payloads: PayloadMemory;
  readonly confirmations: Confirmations;
}

export class SenderLog {
  private readonly ports: ProtocolPorts;
  private readonly channels: Channels;
  private readonly log: DeterminantLog;
  private readonly payloads: PayloadMemory;
  private readonly confirmations: Confirmations;
  /** Messages that have been announced and not taken yet, by the number that the engine's records name them by. */
  private readonly underWay = new Map<number, Kept>();
  private keepers = 0;
  /** Channels with messages that have not left. */
  private readonly pending = new Set<Channel>();
  /** Messages that were ever put into the log. */
  messages = 0;

  constructor(ports: ProtocolPorts, { channels, log, payloads, confirmations }: SenderLogParts) {
    this.ports = ports;
    this.channels = channels;
    this.log = log;
    this.payloads = payloads;
    this.confirmations = confirmations;
  }

  /** Takes a message that the program sends to another set. The send is complete as soon as it is logged, unless it is synchronous. */
  post(send: RecordId, channel: Channel): void {
    const { words } = this.ports.records;
    const at = send * recordWords;
    const bytes = words[at + R_BYTES]!;
    const context = words[at + R_CONTEXT]!;
    const tag = words[at + R_TAG]!;
    const sequence = words[at + R_SEQUENCE]!;
    const from = words[at + R_POINTER]! as Pointer;
    const isSynchronous = words[at + R_MODE] === SendMode.SYNCHRONOUS;
    if (!isSynchronous) this.ports.complete(send);
    this.enter(channel, from, bytes, tag, context, sequence, isSynchronous ? send : noRequest);
  }

  /** The same for one in standard mode that needs no request. */
  keep(channel: Channel, from: Pointer, bytes: number, tag: number, context: number, sequence: number): void {
    this.enter(channel, from, bytes, tag, context, sequence, noRequest);
  }

  /**
   * A receiver need not wait for the copy: where nothing is ahead of a message it leaves before, or is announced, unless its receiver
   * could read the copy at once. There is room for the copy by then.
   */
  private enter(
    channel: Channel,
    from: Pointer,
    bytes: number,
    tag: number,
    context: number,
    sequence: number,
    send: RecordId,
  ): void {
    const { payloads, ports, log } = this;
    const pointer = payloads.roomFor(bytes);
    const dest = channel.peer;
    const isSynchronous = send >= 0;
    const message = new Kept({ dest, context, tag, bytes, sequence, isSynchronous, pointer }, log.ticket(), send);
    const isNext = !channel.isPending && channel.mayHave(sequence) && log.isStable(message.ticket);
    const isEager = ports.isEager(message);
    const hasLeft = isNext && isEager && ports.transmitNow(from, bytes, dest, tag, context, sequence);
    const isCopiedLast = isNext && !isEager && !ports.shares(dest);
    if (!isCopiedLast) payloads.fill(message, from);
    this.put(channel, message, hasLeft);
    if (isCopiedLast) payloads.fill(message, from);
  }

  private put(channel: Channel, message: Kept, hasLeft: boolean): void {
    if (!channel.keep(message)) {
      this.forget(message);
      return;
    }
    if (message.isDelivered) this.confirmations.ask(channel, message);
    channel.loggedBytes += message.bytes;
    this.messages++;
    if (hasLeft) channel.next++;
    else this.pump(channel);
    if (channel.isPending) this.pending.add(channel);
  }

  // On their way

  /** The peer has told which messages it lacks: they are sent again. */
  resume(channel: Channel): void {
    for (const message of channel.kept) if (message.isDelivered) this.confirmations.ask(channel, message);
    if (channel.isPending) this.pending.add(channel);
  }

  get isBusy(): boolean {
    return this.pending.size !== 0;
  }

  progress(): boolean {
    let moved = false;
    for (const channel of this.pending) {
      if (this.pump(channel)) moved = true;
      if (!channel.isPending) this.pending.delete(channel);
    }
    return moved;
  }

  /** Puts the messages on their way that may leave and find room. */
  private pump(channel: Channel): boolean {
    if (!channel.isOpen) return false;
    const before = channel.next;
    const { kept } = channel;
    for (; channel.next < kept.length; channel.next++) {
      const message = kept[channel.next]!;
      if (message.isDelivered) continue;
      if (!this.log.isStable(message.ticket)) break;
      if (!this.transmit(message)) break;
    }
    return channel.next !== before;
  }

  /** Bytes that travel with their envelope are read now; others when they are wanted: by the receiver itself if they may be lent. */
  private transmit(message: Kept): boolean {
    const { ports, payloads } = this;
    if (ports.isEager(message)) {
      payloads.fetch(message);
      const { pointer, bytes, dest, tag, context, sequence } = message;
      return ports.transmitNow(pointer, bytes, dest, tag, context, sequence);
    }
    if (message.isInMemory && payloads.mayLend(message, Lent.OFFERED)) payloads.lend(message, Lent.OFFERED);
    const keeper = this.keepers;
    if (ports.transmit(message, keeper) === Went.NOWHERE) {
      payloads.giveBack(message);
      return false;
    }
    this.underWay.set(keeper, message);
    this.keepers = (keeper + 1) | 0;
    return true;
  }

  /** As `Protocol.lend`. */
  lend(send: RecordId, isForLong: boolean): boolean {
    const { records } = this.ports;
    const message = this.underWay.get(records.get(send, R_PROTOCOL))!;
    if (isForLong && !this.payloads.mayLend(message, Lent.TAKEN)) return false;
    this.payloads.lend(message, Lent.TAKEN);
    records.put(send, R_POINTER, message.pointer);
    return true;
  }

  /** The receiver has all of a message that was announced. */
  delivered(keeper: number): void {
    const message = this.underWay.get(keeper);
    if (message === undefined) return;
    this.underWay.delete(keeper);
    this.payloads.giveBack(message);
    message.isDelivered = true;
    this.confirmations.ask(this.channels.with(message.dest)!, message);
  }

  /** That peer's life is over: no message is under way to it. */
  lose(peer: number): void {
    for (const [keeper, message] of this.underWay) {
      if (message.dest !== peer) continue;
      this.underWay.delete(keeper);
      this.payloads.giveBack(message);
    }
  }

  // The end

  /** A committed image of the receiver has all messages below that number: they were taken, and that is certain. */
  trim(channel: Channel, below: number): void {
    for (const message of channel.trim(below)) this.forget(message);
  }

  private forget(message: Kept): void {
    this.confirmations.complete(message);
    this.payloads.forget(message);
  }
}

lives({ SenderLog });
