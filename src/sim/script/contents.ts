/**
 * What messages and contributions contain: functions of who sends to whom and of the number, so that a message that is torn,
 * lost, duplicated or swapped is seen. The first word of a message is its number.
 */
import type { CollectivePlan, MessagePlan } from "./script.ts";

function mixed(seed: number): number {
  let hash = Math.imul(seed ^ (seed >>> 16), 0x21f0aaad);
  hash = Math.imul(hash ^ (hash >>> 15), 0x735a2d97);
  return hash ^ (hash >>> 15);
}

function messageByte(message: MessagePlan, base: number, index: number): number {
  return index < 4 ? (message.number >>> (8 * index)) & 0xff : (base + Math.imul(index, 37) + (index >> 6)) & 0xff;
}

const baseOf = ({ number, from, to }: MessagePlan): number => mixed(number * 64007 + from * 251 + to);

export function fillMessage(view: Uint8Array, message: MessagePlan): void {
  const base = baseOf(message);
  for (let index = 0; index < message.bytes; index++) view[index] = messageByte(message, base, index);
}

/** Where the view differs from the first `bytes` bytes of the message, or −1. */
export function firstWrongByte(view: Uint8Array, message: MessagePlan, bytes: number): number {
  const base = baseOf(message);
  for (let index = 0; index < bytes; index++) if (view[index] !== messageByte(message, base, index)) return index;
  return -1;
}

/** The number in the first word of a message. */
export function numberIn(view: Uint8Array): number {
  return view[0]! | (view[1]! << 8) | (view[2]! << 16) | (view[3]! << 24);
}

/** Element `index` of what a rank contributes to a collective. */
export function contribution({ number }: CollectivePlan, rank: number, index: number): number {
  return mixed(number * 7919 + rank * 104729 + index * 31 + 1);
}
