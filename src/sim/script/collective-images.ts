/**
 * The contents of one rank's buffers before and after a collective, byte for byte: its contribution, the result, and everywhere
 * else a filling that must not be touched.
 */

import { blockPlacesOf, blocksGiven, blocksGot, type MovingPlan } from "./collective-blocks.ts";
import { type CollectivePlan, isInPlace, isReducing } from "./collective-plan.ts";
import { elementWords, gives, type Reducing, segmentsOf, vectorGot, vectorLength } from "./collective-vectors.ts";
import { type CommunicatorPlan, rankOf, sideOf } from "./communicator-plan.ts";
import { contribution, fillBlock } from "./contents.ts";

const filling = 0xa5;
/** Filling behind every buffer. */
const guardBytes = 8;

export interface Images {
  readonly send: Uint8Array;
  readonly receive: Uint8Array;
}

/** Offset at which an image differs from the observed bytes, or −1. */
export function firstDifference(seen: Uint8Array, image: Uint8Array, bytes = image.length): number {
  for (let index = 0; index < bytes; index++) if (seen[index] !== image[index]) return index;
  return -1;
}

/** Before the call. */
export function imagesBefore(plan: CollectivePlan, comm: CommunicatorPlan, world: number): Images {
  return isReducing(plan.kind)
    ? vectorsBefore(plan as Reducing, comm, world)
    : blocksBefore(plan as MovingPlan, comm, world);
}

/** The receive buffer after the call, made from the one before, and how many of its first bytes are certain. */
export function receivedAfter(
  plan: CollectivePlan,
  comm: CommunicatorPlan,
  world: number,
  { receive: image }: Images,
): { readonly image: Uint8Array; readonly certainBytes: number } {
  if (!isReducing(plan.kind)) {
    layBlocks(plan as MovingPlan, comm, world, image);
    return { image, certainBytes: image.length };
  }
  const got = vectorGot(plan as Reducing, comm, world);
  if (got !== null) image.set(bytesOf(got));
  // A vector that is reduced in place and shared out leaves rubbish behind this rank's share.
  const isShared = plan.inPlace && (plan.kind === "reduce_scatter" || plan.kind === "reduce_scatter_block");
  return { image, certainBytes: isShared ? got!.byteLength : image.length };
}

/** An untouched buffer; ranks whose buffer does not matter have one all the same. */
const untouched = (plan: CollectivePlan, bytes: number): Uint8Array =>
  new Uint8Array(Math.max(bytes, 4 * plan.count) + guardBytes).fill(filling);

function blocksBefore(plan: MovingPlan, comm: CommunicatorPlan, world: number): Images {
  const { sends, receives } = blockPlacesOf(plan, comm, world);
  const send = untouched(plan, sends.total);
  const receive = untouched(plan, receives.total);
  const inPlace = plan.kind !== "scatter" && plan.kind !== "scatterv" && isInPlace(plan, world);
  for (let block = 0; block < blocksGiven(plan, comm, world); block++) {
    const from = inPlace || plan.kind === "bcast" ? receive : send;
    const index = inPlace && sends.bytes.length === 1 ? rankOf(comm, world) : block;
    const { bytes, offsets } = inPlace ? receives : sends;
    fillBlock(from.subarray(offsets[index]!, offsets[index]! + bytes[index]!), plan.number, world, block);
  }
  return { send, receive };
}

function layBlocks(plan: MovingPlan, comm: CommunicatorPlan, world: number, receive: Uint8Array): void {
  const { receives } = blockPlacesOf(plan, comm, world);
  for (const [index, from] of blocksGot(plan, comm, world).entries()) {
    if (from === null) continue;
    const offset = receives.offsets[index]!;
    fillBlock(receive.subarray(offset, offset + receives.bytes[index]!), plan.number, from.world, from.block);
  }
}

function vectorsBefore(plan: Reducing, comm: CommunicatorPlan, world: number): Images {
  const words = elementWords(plan);
  const length = vectorLength(plan, comm);
  const isShared = plan.kind === "reduce_scatter" || plan.kind === "reduce_scatter_block";
  const share = isShared ? segmentsOf(plan, comm, sideOf(comm, world))[rankOf(comm, world)]! : length;
  const inPlace = isInPlace(plan, world);
  const send = untouched(plan, 4 * words * length);
  const receive = untouched(plan, 4 * words * (inPlace ? length : share));
  if (gives(plan, comm, world)) {
    (inPlace ? receive : send).set(bytesOf(contribution(plan.number, world, length * words)));
  }
  return { send, receive };
}

const bytesOf = (words: Int32Array): Uint8Array => new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
