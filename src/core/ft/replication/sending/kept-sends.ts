/** Messages from their posting until every living replica of their receivers has them, and what the program hears of that. */
import type { Pointer, RecordId } from "../../../base/brand.ts";
import { lives } from "../../../base/saved-classes.ts";
import {
  R_BYTES,
  R_CONTEXT,
  R_MODE,
  R_PEER,
  R_POINTER,
  R_SEQUENCE,
  R_TAG,
  recordWords,
  SendMode,
} from "../../../request/records.ts";
import type { KeptPayload, ProtocolPorts } from "../../protocol.ts";
import type { SeenOrder } from "../seen-order.ts";
import type { Copies } from "./copies.ts";
import { KeptSend, noSend } from "./kept-send.ts";
import type { SendChannel } from "./send-channel.ts";

interface KeptSendsParts {
  readonly copies: Copies;
  readonly order: SeenOrder;
  /** Of each rank there can be. */
  readonly replicas: number;
}

export class KeptSends {
  private readonly ports: ProtocolPorts;
  private readonly copies: Copies;
  private readonly order: SeenOrder;
  /** Bits: all replicas there can be. */
  private readonly all: number;
  /** Objects of messages that are over. */
  private readonly spare: KeptSend[] = [];
  /** Messages that some replica of their receivers may lack. */
  unsettled = 0;

  constructor(ports: ProtocolPorts, { copies, order, replicas }: KeptSendsParts) {
    this.ports = ports;
    this.copies = copies;
    this.order = order;
    this.all = (1 << replicas) - 1;
  }

  /** The message of a send that the program has posted; `ticket`: see `KeptSend.ticket`. */
  take(send: RecordId, ticket: number): KeptSend {
    const message = this.spare.pop() ?? new KeptSend();
    const { words } = this.ports.records;
    const at = send * recordWords;
    message.dest = words[at + R_PEER]!;
    message.context = words[at + R_CONTEXT]!;
    message.tag = words[at + R_TAG]!;
    message.bytes = words[at + R_BYTES]!;
    message.sequence = words[at + R_SEQUENCE]!;
    message.isSynchronous = words[at + R_MODE] === SendMode.SYNCHRONOUS;
    message.pointer = words[at + R_POINTER]! as Pointer;
    message.send = send;
    const strand = this.order.strands.current;
    message.position = strand === null ? this.order.end : strand.base;
    message.strand = strand;
    message.taken = strand === null ? 0 : strand.length;
    message.ticket = ticket;
    message.isDelayed = false;
    message.announced = 0;
    message.went = 0;
    message.wished = 0;
    message.isOver = false;
    return message;
  }

  keep(channel: SendChannel, message: KeptSend): void {
    message.has = channel.acknowledgedBy(message.sequence);
    channel.add(message);
    this.unsettled++;
  }

  /** The program need not wait for it any more. Not when there is no room for a copy. */
  copy(message: KeptSend): void {
    if (this.copies.take(message)) this.complete(message);
  }

  /** Room or not. */
  copyAnyway(message: KeptSend): void {
    this.copies.takeAnyway(message);
    this.complete(message);
  }

  private complete(message: KeptSend): void {
    const { send } = message;
    if (send < 0) return;
    message.send = noSend;
    this.ports.complete(send);
  }

  /** Have all that live all of it? Then it is over. */
  settle(channel: SendChannel, message: KeptSend): boolean {
    if ((message.has | channel.dead) !== this.all || message.announced !== 0) return false;
    channel.settle(message);
    this.unsettled--;
    this.complete(message);
    this.copies.give(message);
    channel.clean((over) => this.spare.push(over));
    return true;
  }

  /** Somebody is waited for no more. */
  settleAll(channel: SendChannel): void {
    channel.forEach((message) => void this.settle(channel, message));
  }

  /** Copies in the process's memory. */
  payloads(channels: Iterable<SendChannel>): KeptPayload[] {
    const copies: KeptPayload[] = [];
    for (const channel of channels) {
      channel.forEach((message) => {
        if (message.isCopy && message.bytes !== 0) copies.push(message);
      });
    }
    return copies;
  }
}

lives({ KeptSends });
