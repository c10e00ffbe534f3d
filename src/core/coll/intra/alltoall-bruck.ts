/**
 * Bruck all-to-all of equal short blocks: ⌈log2 p⌉ rounds instead of p − 1, for which every block is sent up to log2 p
 * times: about n·p/2 bytes a round and as much copying. Bruck, Ho, Kipnis, Upfal and Weathersby, 1997.
 *
 * Slot i of rank r first holds the block for rank r + i. A block in slot i must travel i ranks to the right; in round k the
 * slots whose index has bit k go 2^k to the right. So slot i ends up with the block that rank r − i sent to r.
 */
import { copy, Rounds, receive, region, send } from "../engine/rounds.ts";
import type { MayBeInPlace, Place, Region, Schedule, Step } from "../engine/schedule.ts";

interface AlltoallEqual extends Place, MayBeInPlace {
  /** Length of the block from one rank to another. */
  readonly bytes: number;
}

export function alltoallBruck({ rank, size, bytes, inPlace = false }: AlltoallEqual): Schedule {
  const from = inPlace ? "receive" : "send";
  const slots = (first: number, count: number): Region => region("scratch", first * bytes, count * bytes);
  /**
   * Behind the slots: the blocks that leave in a round, then those that come. At most half of the slots, rounded up, have a
   * given bit.
   */
  const halfBytes = Math.ceil(size / 2) * bytes;
  const leaving = region("scratch", size * bytes, halfBytes);
  const coming = region("scratch", size * bytes + halfBytes, halfBytes);

  const rounds = new Rounds().add(
    copy(region(from, rank * bytes, (size - rank) * bytes), slots(0, size - rank)),
    copy(region(from, 0, rank * bytes), slots(size - rank, rank)),
  );
  for (let distance = 1; distance < size; distance *= 2) {
    const pack: Step[] = [];
    const unpack: Step[] = [];
    let moved = 0;
    for (let first = distance; first < size; first += 2 * distance) {
      const run = slots(first, Math.min(distance, size - first));
      pack.push(copy(run, { ...leaving, offset: leaving.offset + moved, bytes: run.bytes }));
      unpack.push(copy({ ...coming, offset: coming.offset + moved, bytes: run.bytes }, run));
      moved += run.bytes;
    }
    rounds.add(...pack);
    rounds.add(
      send((rank + distance) % size, { ...leaving, bytes: moved }),
      receive((rank - distance + size) % size, { ...coming, bytes: moved }),
      ...unpack,
    );
  }
  for (let slot = 0; slot < size; slot++) {
    rounds.add(copy(slots(slot, 1), region("receive", ((rank - slot + size) % size) * bytes, bytes)));
  }
  return rounds.schedule(size * bytes + 2 * halfBytes);
}
