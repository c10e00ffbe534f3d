/**
 * The tree over which the members of a communicator synchronise: of a member its predecessor and its successors, found by arithmetic alone
 * (thesis, Algorithm 1). It knows nothing of the network. Its depth, and so the time of a synchronisation, grows with the logarithm of the
 * number of members, to the base `fanOut`.
 */
import { assert } from "../base/assert.ts";

interface TreeShape {
  /** Members in the tree. */
  readonly size: number;
  /** Successors of a member at most. */
  readonly fanOut: number;
  /** The member at the top; the first unless given. */
  readonly root?: number;
}

/** −1: the member is the root. */
export function predecessorOf(member: number, { size, fanOut, root = 0 }: TreeShape): number {
  const place = (member - root + size) % size;
  return place === 0 ? -1 : (Math.floor((place - 1) / fanOut) + root) % size;
}

export function successorsOf(member: number, { size, fanOut, root = 0 }: TreeShape): number[] {
  assert(fanOut >= 1, `a tree whose members have ${fanOut} successors`);
  const place = (member - root + size) % size;
  const successors: number[] = [];
  for (let i = 1; i <= fanOut && place * fanOut + i < size; i++) successors.push((place * fanOut + i + root) % size);
  return successors;
}
