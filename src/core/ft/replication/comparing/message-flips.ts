/** Bits of messages that flip on their way, by a fault plan: what the sender has hashed is not what its receiver gets. For tests of the comparison. */
import { lives } from "../../../base/saved-classes.ts";
import { splitmix32, splitmixStep } from "../../../base/splitmix-32.ts";
import { Went } from "../../../request/decisions.ts";
import type { PlannedFlip } from "../../definition.ts";
import type { ProtocolPorts } from "../../protocol.ts";
import type { KeptSend } from "../sending/kept-send.ts";

export class MessageFlips {
  private readonly ports: ProtocolPorts;
  private readonly planned: readonly PlannedFlip[];
  /** Messages of this process to other ranks. */
  private messages = 0;
  /** Those that are to be flipped; and the one whose bytes are wrong in the sender's memory as long as its receiver may read them there. */
  private readonly due = new Map<KeptSend, PlannedFlip>();
  private readonly wrong = new Map<KeptSend, readonly number[]>();

  constructor(ports: ProtocolPorts, planned: readonly PlannedFlip[]) {
    this.ports = ports;
    this.planned = planned;
  }

  posted(message: KeptSend): void {
    this.messages++;
    const flip = this.planned.find(({ message: number }) => number === this.messages);
    if (flip !== undefined && message.bytes > 0) this.due.set(message, flip);
  }

  transmit(message: KeptSend, keeper: number): Went {
    const flip = this.due.get(message);
    if (flip === undefined) return this.ports.transmit(message, keeper);
    const bits = bitsOf(flip, message.bytes);
    this.turn(message, bits);
    const went = this.ports.transmit(message, keeper);
    if (went === Went.ENVELOPE) this.wrong.set(message, bits);
    else this.turn(message, bits);
    if (went !== Went.NOWHERE) this.due.delete(message);
    return went;
  }

  /** Its receiver has read it, or is dead. */
  over(message: KeptSend): void {
    const bits = this.wrong.get(message);
    if (bits === undefined) return;
    this.wrong.delete(message);
    this.turn(message, bits);
  }

  private turn({ pointer, bytes }: KeptSend, bits: readonly number[]): void {
    const view = this.ports.memory.view(pointer, bytes);
    for (const bit of bits) view[bit >> 3] = view[bit >> 3]! ^ (1 << (bit & 7));
  }
}

function bitsOf({ bits, seed }: PlannedFlip, bytes: number): number[] {
  const places = new Set<number>();
  let state = seed | 0;
  while (places.size < Math.min(bits, 8 * bytes)) {
    state = (state + splitmixStep) | 0;
    places.add(Math.floor((splitmix32(state) / 2 ** 32) * 8 * bytes));
  }
  return [...places];
}

lives({ MessageFlips });
