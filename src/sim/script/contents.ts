/**
 * Contents of messages and contributions: functions of sender, receiver and number, so that bytes that are torn, lost,
 * duplicated or swapped are noticed. The first word of a message is its number.
 */
import type { MessagePlan } from "./message-plan.ts";
import { mixed } from "./mixed-number.ts";

const byteFrom = (base: number, index: number): number => (base + Math.imul(index, 37) + (index >> 6)) & 0xff;

function messageByte(message: MessagePlan, base: number, index: number): number {
  return index < 4 ? (message.number >>> (8 * index)) & 0xff : byteFrom(base, index);
}

const baseOf = ({ number, from, to }: MessagePlan): number => mixed(number, from, to);

export function fillMessage(view: Uint8Array, message: MessagePlan): void {
  const base = baseOf(message);
  for (let index = 0; index < message.bytes; index++) view[index] = messageByte(message, base, index);
}

/** Offset at which the view differs from the first `bytes` bytes of the message, or −1. */
export function firstWrongByte(view: Uint8Array, message: MessagePlan, bytes: number): number {
  const base = baseOf(message);
  for (let index = 0; index < bytes; index++) if (view[index] !== messageByte(message, base, index)) return index;
  return -1;
}

/** The number in the first word of a message. */
export function numberIn(view: Uint8Array): number {
  return view[0]! | (view[1]! << 8) | (view[2]! << 16) | (view[3]! << 24);
}

/** One block of a rank's contribution to a collective that moves data. */
export function fillBlock(view: Uint8Array, collective: number, world: number, block: number): void {
  const base = mixed(collective, world, block);
  for (let index = 0; index < view.length; index++) view[index] = byteFrom(base, index);
}

/** A rank's contribution to a reduction, as words. */
export function contribution(collective: number, world: number, words: number): Int32Array {
  const base = mixed(collective, world);
  const vector = new Int32Array(words);
  for (let index = 0; index < words; index++) vector[index] = Math.imul(base + index, 0x85ebca6b) ^ (base >>> 7);
  return vector;
}
